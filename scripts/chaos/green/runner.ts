/**
 * A test runner for sh. It notes each file that it gets, fails, stays silent or skips as the name of the file says, writes a report, and
 * is where a node is killed. A line of $RAN has the CI run, the job, the start of the job, the outcome of the file, and its path.
 */
export const RUNNER = `
cases= failed=0 place=0
note() { printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$CI_RUN" "$JOB_NAME" "$START" "$1" "$2" >> "$RAN"; }
if [ "$START" = 1 ] && [ "\${BALLAST_BATCH:-1}" = "$KILL_BATCH" ]; then last=$#; [ "$KILL_FILE" -gt $last ] || last=$KILL_FILE; else last=0; fi
for file in "$@"; do
  place=$((place + 1))
  file=\${file#./}
  if [ $place = "$last" ]; then
    kill -s "$KILL_SIGNAL" -- "-$JOB"
    sleep 4
    exit 9
  fi
  if [ -n "$CRASHES" ] && [ "$START" = 1 ] && [ $place -gt $(($# / 2)) ]; then
    [ -z "$REPORT" ] || exit 1
    # Without a report nobody can know which files it did not come to.
    failed=1; note skipped "$file"; continue
  fi
  outcome=passed
  case $file in
    *_fails*) outcome=failed ;;
    *_flaky*) [ "$START" != 1 ] || outcome=failed ;;
    *_skipped*) outcome=skipped ;;
  esac
  note $outcome "$file"
  failure=
  if [ $outcome = failed ]; then failed=1 failure='<failure/>'; fi
  case $file in
    *_untold* | *_skipped*) ;;
    *) cases="$cases<testcase name='one' file='$file' time='0.25'>$failure</testcase>" ;;
  esac
done
[ -z "$REPORT" ] || printf '%s' "<testsuites><testsuite>$cases</testsuite></testsuites>" > "$REPORT"
[ -z "$LOSES_EXIT_CODE" ] || exit 0
exit $failed
`;

/** What the runner noted. */
export interface Ran {
  buildId: string;
  job: string;
  start: number;
  outcome: 'passed' | 'failed' | 'skipped';
  path: string;
}

export function readRan(text: string): Ran[] {
  return text.split('\n').slice(0, -1).map(line => {
    const [buildId, job, start, outcome, path] = line.split('\t') as [string, string, string, Ran['outcome'], string];
    return { buildId, job, start: Number(start), outcome, path };
  });
}

export const lineOf = ({ buildId, job, start, outcome, path }: Ran): string => `${[buildId, job, start, outcome, path].join('\t')}\n`;
