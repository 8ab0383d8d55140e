/**
 * An idle process whose event loop is measured like the server's. Its delay is caused by the operating system: more
 * threads are ready to run than there are cores.
 */
import './probe.js';

setInterval(() => {}, 1_000_000);
