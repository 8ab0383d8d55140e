import { render } from 'preact';
import { App } from './app/app.js';
import { startRouter } from './routes/router.js';

startRouter();
render(<App />, document.getElementById('app')!);
