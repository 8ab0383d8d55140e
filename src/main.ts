#!/usr/bin/env node
import './cli/process/supported.js';

// The program is loaded after the check: an older Node cannot link it and would report a missing export instead of its version.
void import('./cli/program.js');
