#!/usr/bin/env node
import './supported.js';

// Loaded after the check: an older Node cannot link the program, and would report a missing export instead of its version.
void import('./program.js');
