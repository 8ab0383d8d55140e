import type { CaseOutcome } from '../../../src/protocol/case-outcomes.js';

/** Longer than a lease in a scenario with faults. */
export const SILENT_SECONDS = 8;

/**
 * A test runner in sh. The name of a file determines whether it fails, hangs, is skipped or is missing in the report. The runner logs each
 * file to $RAN, writes the report, and kills its node if $KILL_BATCH and $KILL_FILE name the file. Before the batch $PAUSE_BATCH it waits,
 * and meanwhile stops its node if $STOPS_NODE is set. A line of $RAN: the CI run, the job, the number of its start, the outcome, the path.
 */
export const RUNNER = `
cases= failed=0 place=0
note() { printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$CI_RUN" "$JOB_NAME" "$START" "$1" "$2" >> "$RAN"; }
if [ "$START" = 1 ] && [ "\${BALLAST_BATCH:-1}" = "$KILL_BATCH" ]; then last=$#; [ "$KILL_FILE" -gt $last ] || last=$KILL_FILE; else last=0; fi
if [ "$START" = 1 ] && [ "\${BALLAST_BATCH:-1}" = "$PAUSE_BATCH" ]; then
  [ -z "$STOPS_NODE" ] || kill -s STOP -- "-$JOB"
  sleep ${SILENT_SECONDS}
  [ -z "$STOPS_NODE" ] || kill -s CONT -- "-$JOB"
fi
for file in "$@"; do
  place=$((place + 1))
  file=\${file#./}
  if [ $place = "$last" ]; then
    kill -s "$KILL_SIGNAL" -- "-$JOB"
    sleep ${SILENT_SECONDS}
    kill -s KILL -- "-$JOB"
    exit 9
  fi
  if [ -n "$CRASHES" ] && [ "$START" = 1 ] && [ $place -gt $(($# / 2)) ]; then
    [ -z "$REPORT" ] || exit 1
    # Without a report nothing shows which files did not run.
    failed=1; note skipped "$file"; continue
  fi
  case $file in
    *_hangs_stubbornly*) trap '' INT TERM HUP; sleep 600 ;;
    *_hangs*) sleep 600 ;;
  esac
  outcome=passed
  case $file in
    *_fails*) outcome=failed ;;
    *_flaky*) [ "$START" != 1 ] || outcome=failed ;;
    *_unsteady*) grep -qF "$(printf 'failed\\t%s' "$file")" "$RAN" || outcome=failed ;;
    *_skipped*) outcome=skipped ;;
  esac
  note $outcome "$file"
  failure=
  if [ $outcome = failed ]; then failed=1 failure='<failure/>'; fi
  case $file in
    *_unreported* | *_skipped*) ;;
    *) cases="$cases<testcase name='one' file='$file' time='0.25'>$failure</testcase>" ;;
  esac
done
[ -z "$REPORT" ] || printf '%s' "<testsuites><testsuite>$cases</testsuite></testsuites>" > "$REPORT"
[ -z "$LOSES_EXIT_CODE" ] || exit 0
exit $failed
`;

/** A line of $RAN. */
export interface FileRun {
  buildId: string;
  job: string;
  start: number;
  outcome: CaseOutcome;
  path: string;
}

export function parseFileRuns(text: string): FileRun[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const [buildId, job, start, outcome, path] = line.split('\t') as [string, string, string, FileRun['outcome'], string];
      return { buildId, job, start: Number(start), outcome, path };
    });
}

export const formatFileRun = ({ buildId, job, start, outcome, path }: FileRun): string =>
  `${[buildId, job, start, outcome, path].join('\t')}\n`;
