import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '../harness/client.js';
import type { Run } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

export const BUILD = { commit_hash: 'c1', branch: 'main', node_total: 2 };

/**
 * A test runner for the shell, which starts ten times as fast as Node. It writes the files that it runs to $RAN, and a report to $REPORT. The
 * files of $FAILING fail, but with $LOST the exit code stays 0. Those of $FLAKY fail the first time, and those of $VANISHING are in no
 * report after that.
 */
const RUNNER_SCRIPT = `
code=0
for file do
  printf '%s\\n' "$file" >> "$RAN"
  failure=
  case ",$FAILING," in *",$file,"*) failure='<failure/>'; [ "$LOST" ] || code=1 ;; esac
  case ",$FLAKY," in *",$file,"*) [ "$(grep -cxF "$file" "$RAN")" = 1 ] && { failure='<failure/>'; code=1; } ;; esac
  case ",$VANISHING," in *",$file,"*) [ "$(grep -cxF "$file" "$RAN")" = 1 ] || continue ;; esac
  case ",$SILENT," in *",$file,"*) continue ;; esac
  cases="$cases<testcase name='one' file='$file' time='\${#file}'>$failure</testcase>"
done
if [ "$REPORT" ]; then
  mkdir -p reports
  case "$REPORT" in *%*) REPORT="\${REPORT%%%*}$BALLAST_BATCH\${REPORT#*%}" ;; esac
  printf '%s' "<testsuites><testsuite>$cases</testsuite></testsuites>" > "$REPORT"
fi
if [ "$HANGS" ]; then
  exec 2> /dev/null
  trap 'exit 9' "\${HANGS#SIG}"
  echo ready
  while :; do sleep 0.2; done
fi
exit $code
`;

/** A folder with test files and a test runner. */
export class TestProject {
  readonly folder = temporaryFolder();
  readonly #ran = join(temporaryFolder(), 'ran');
  readonly runner = ['--', 'sh', 'runner.sh', '{}'];

  constructor(readonly files: readonly string[]) {
    for (const file of files) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      writeFileSync(join(this.folder, file), '');
    }
    writeFileSync(join(this.folder, 'runner.sh'), RUNNER_SCRIPT);
    writeFileSync(this.#ran, '');
  }

  /** The files that the runner got so far, in order. */
  get ran(): string[] {
    return readFileSync(this.#ran, 'utf8').split('\n').slice(0, -1);
  }

  environment(server: Pick<Client, 'url' | 'token'>, node: number, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return {
      BALLAST_URL: server.url,
      BALLAST_TOKEN: server.token,
      BALLAST_NODE_INDEX: String(node),
      BALLAST_NODE_TOTAL: String(BUILD.node_total),
      BALLAST_BUILD_ID: '7',
      BALLAST_BRANCH: BUILD.branch,
      BALLAST_COMMIT_HASH: BUILD.commit_hash,
      BALLAST_RETRIES: '0',
      RAN: this.#ran,
      ...more,
    };
  }

  run(
    server: Pick<Client, 'url' | 'token'>,
    node: number,
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
    stdin: string | Buffer = '',
  ): Promise<Run> {
    return runInProcess(args, this.environment(server, node, more), { cwd: this.folder, stdin });
  }
}

/** No server listens on this port. */
export const unreachableServer = { url: 'http://127.0.0.1:1', token: 't' };

/** Returns the recorded seconds of the build by path. */
export async function fetchRecordedTimes(server: Client): Promise<Record<string, number>> {
  const [build] = (await server.get('/v1/builds')).json.data;
  if (!build) return {};
  const { build_subsets } = (await server.get(`/v1/builds/${build.id}`)).json;
  return Object.fromEntries(build_subsets.flatMap((subset: any) => subset.test_files.map((file: any) => [file.path, file.time_execution])));
}
