import { writeFileSync } from 'node:fs';
import { Clock } from '../harness/clock.js';
import { playPast } from './past.js';
import { type Place, serve } from './served.js';

/** The process that writes the store of a fixture. It kills itself, so that the store is as a crash leaves it: with the last changes in its journal. */

const [place, output] = process.argv.slice(2) as [string, string];
const clock = new Clock(Date.UTC(2026, 0, 5, 8));
const served = await serve(JSON.parse(place) as Place, clock);
const past = await playPast(served, clock);
writeFileSync(output, JSON.stringify(past));
process.kill(process.pid, 'SIGKILL');
