/**
 * A process that does nothing and is watched as the server is: what it is late, the operating system made it wait,
 * because more threads wanted to run than there are cores.
 */
import './probe.js';

setInterval(() => {}, 1_000_000);
