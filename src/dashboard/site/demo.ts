// The dashboard over recorded answers. The bundler has `fetch`, `location`, `history` and `Date` of this folder stand in for those of the browser.
import './links.js';
import '../main.js';
