import { render } from 'preact';
import { App } from './app.js';
import { startRouter } from './router.js';

startRouter();
render(<App />, document.getElementById('app')!);
