#!/usr/bin/env node
import './cli/process/supported.js';

// Loaded after the check: an older Node cannot link the program, and would report a missing export instead of its version.
void import('./cli/program.js');
