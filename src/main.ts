#!/usr/bin/env node
import './supported.js';

// Only now: what the program imports is not to be had in an older Node, which would tell of that and not of its age.
void import('./program.js');
