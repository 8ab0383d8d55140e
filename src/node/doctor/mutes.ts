import { agree, pluralize } from '../../base/plural.js';
import { abbreviate } from '../../base/terminal.js';
import { DAY_MILLISECONDS } from '../../base/time.js';
import { UsageError } from '../../base/usage-error.js';
import { MUTES_FILE, type Mute, nameOf, readMutes } from '../mutes/mutes.js';
import { type Finding, fine, problem, warning } from './finding.js';

/** Mutes that end within so many days are named. */
const SOON_DAYS = 7;

/** Reads the muted failures as `queue` would, and says which end soon, and which mute nothing. @param files the list; null: none was given */
export function checkMutes(files: readonly string[] | null, now: number): Finding[] {
  try {
    const { all } = readMutes(now);
    if (all.length === 0) return [];
    const soon = new Date(now + SOON_DAYS * DAY_MILLISECONDS).toISOString().slice(0, 10);
    const ending = all.filter(({ until }) => until <= soon);
    const listed = files && new Set(files);
    const unlisted = listed ? all.filter(mute => !listed.has(mute.path) && !listed.has(nameOf(mute))) : [];
    return [
      ...fine('mutes.read', `${MUTES_FILE} mutes ${pluralize(all.length, 'failure')}`),
      ...found(
        'ending',
        `${agree(ending.length, 'ends', 'end')} within ${SOON_DAYS} days`,
        ending,
        'fix the tests and remove the lines, or have later days reviewed',
      ),
      ...found(
        'unlisted',
        `${agree(unlisted.length, 'names', 'name')} no listed test file`,
        unlisted,
        'write each path as the list has it, or remove the line',
      ),
    ];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.errors.flatMap(text => problem('mutes.refused', text, `correct ${MUTES_FILE}: no command runs a test before`));
  }
}

function found(id: string, what: string, mutes: readonly Mute[], remedy: string): Finding[] {
  if (mutes.length === 0) return [];
  const names = mutes.map(mute => `${MUTES_FILE}:${mute.line} ${nameOf(mute)}, until ${mute.until}, ${mute.owner}`);
  return warning(`mutes.${id}`, `${pluralize(mutes.length, 'mute')} ${what}: ${abbreviate(names)}`, remedy);
}
