/** Stops the clock of a server, which loads this module before the program (--import). */
const start = Date.now();
Date.now = () => start;
