import { useState } from 'preact/hooks';
import type { BuildLines } from '../../../protocol/answers/trends.js';
import type { CreatedToken, ProjectLine } from '../../../protocol/messages/dashboard.js';
import { fileOfPiece } from '../../../protocol/piece-path.js';
import { usualNodeTotal } from '../../../protocol/usual-nodes.js';
import { useLive } from '../../data/live.js';
import { useSession } from '../../data/session.js';
import { When } from '../../parts/amounts.js';
import { CopyButton, Secret } from '../../parts/copy.js';
import { FirstLine } from '../../parts/first-line.js';
import { Branch } from '../../parts/path.js';
import { Failure } from '../../parts/states.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count } from '../../text/format.js';
import { commitOf, inSentence } from '../../text/in-sentence.js';
import { useChange } from '../access/use-change.js';
import { ciSystemOf, ciSystems } from './ci-systems.js';
import { runnerOf, runners } from './runners.js';
import { secretOf, snippetOf } from './snippet.js';

/** Intervals at which a page that waits for a build asks for one, and at which it asks after the build came, in seconds. */
const WAITING = 2;
const KNOWN = 30;

const MOST_NODES = 64;
/** The builds that tell what a project uses. */
const BUILDS = 20;

export function SetUpPage({ project }: ProjectPageProps) {
  const { query } = useAddress();
  const session = useSession();
  const [token, setToken] = useState<string | null>(null);
  const live = useLive<BuildLines>(
    withQuery('/v1/build_summaries', { limit: BUILDS }),
    { attempt: 'look for the first build', project: project.id },
    ({ builds }) => (builds.length === 0 ? WAITING : KNOWN),
  );
  const system = ciSystemOf(query.get('ci'));
  const builds = live.data?.builds ?? [];
  const [file = null] = builds.flatMap(({ summary }) => (summary?.longest ? fileOfPiece(summary.longest.path) : []));
  const runner = runnerOf(query.get('runner'), file);
  const nodes = Math.min(MOST_NODES, Math.max(1, Math.floor(Number(query.get('nodes'))) || (usualNodeTotal(builds) ?? 4)));
  const snippet = snippetOf(system, runner, { url: session.url, nodes, token });
  return (
    <>
      <FirstLine
        sentences={[
          `Connect a CI job to ${inSentence(project.name)}.`,
          'Choose what you use, and add this to your job. The next build then appears here.',
        ]}
      />
      <div class="choices">
        <label>
          CI system
          <select value={system.id} onChange={event => setQuery({ ci: event.currentTarget.value })}>
            {ciSystems.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Test runner
          <select value={runner.id} onChange={event => setQuery({ runner: event.currentTarget.value })}>
            <Runners client="ballast" label="Ballast’s own client" />
            <Runners client="knapsack" label="Clients of Knapsack Pro" />
          </select>
        </label>
        <label>
          Nodes
          <input
            class="seconds"
            type="number"
            min={1}
            max={MOST_NODES}
            value={nodes}
            onChange={event => setQuery({ nodes: event.currentTarget.value })}
          />
        </label>
      </div>
      {isLoopback(session.url) && (
        <p class="hint-box">
          This server is reached at {session.url}, which only this machine can use. For CI jobs on other machines, start it with{' '}
          <code>BALLAST_HOST=0.0.0.0</code>, and read <a href="/docs/security#tls">how to encrypt connections</a>.
        </p>
      )}
      <ol class="steps">
        <li>
          <h2>Store the token as a secret</h2>
          <p>
            Store it as <code>{secretOf(runner)}</code> in {system.secretPlace}.
          </p>
          <Token project={project} token={token} setToken={setToken} isOperator={session.role === 'operator'} />
        </li>
        <li>
          <h2>Add {system.file === null ? 'this to the job of each node' : `this to ${system.file}`}</h2>
          <div class="snippet">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls. */}
            <pre tabIndex={0}>
              <code>{snippet}</code>
            </pre>
            <CopyButton text={snippet} />
          </div>
          <p class="small quiet">
            Install what your tests need before the last command.{' '}
            <a href={runner.client === 'ballast' ? '/docs/any-runner' : '/docs/clients'}>All about this client</a>,{' '}
            <a href="/docs/ci-systems">about this CI system</a>. Playwright, Vitest, Jest and pytest also have{' '}
            <a href="/docs/runner-plugins">plugins</a>, with which the command of a job stays as it is.
          </p>
        </li>
        <li>
          <h2>Push</h2>
          {live.problem && <Failure problem={live.problem} reload={live.reload} />}
          <Arrival project={project} builds={live.data} />
        </li>
      </ol>
      <p class="quiet">
        Later, make <a href="/docs/completeness">the completeness gate</a> the last step of the CI run: it fails when a test file did not
        run.
        {session.role === 'operator' && (
          <>
            {' '}
            <a href={projectPath(project.name, 'settings')}>Settings of the project</a>: what a node costs, how long a build should take,
            and where commits and CI jobs are.
          </>
        )}
      </p>
    </>
  );
}

/** Other machines cannot reach such an address. */
function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}

function Runners({ client, label }: { client: 'ballast' | 'knapsack'; label: string }) {
  return (
    <optgroup label={label}>
      {runners
        .filter(runner => runner.client === client)
        .map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
    </optgroup>
  );
}

interface TokenProps {
  project: ProjectLine;
  token: string | null;
  setToken: (token: string) => void;
  isOperator: boolean;
}

/** The token was shown when the project was created. An operator makes another. */
function Token({ project, token, setToken, isOperator }: TokenProps) {
  const { problem, send } = useChange();
  if (token !== null) return <Secret title={`A token of ${inSentence(project.name)}.`} text={token} />;
  if (!isOperator) return <p class="quiet">An operator has the token, or makes another.</p>;
  const create = async () => {
    const answer = await send<CreatedToken>('/dashboard/tokens', { project: project.id }, 'create a token');
    if (answer) setToken(answer.token);
  };
  return (
    <>
      {problem && <Failure problem={problem} reload={() => void create()} />}
      <p>
        <button type="button" onClick={() => void create()}>
          Create a token
        </button>{' '}
        <span class="quiet">if you do not have the one that was shown before.</span>
      </p>
    </>
  );
}

/** Waits for the first build, and shows it. */
function Arrival({ project, builds }: { project: ProjectLine; builds: BuildLines | null }) {
  const newest = builds?.builds[0];
  return (
    <p class="arrival" role="status">
      {!newest ? (
        <span class="waiting">Waiting for the first build …</span>
      ) : (
        <>
          <span class="complete-text">✓</span> The newest build:{' '}
          <a href={projectPath(project.name, 'build', newest.build_id ?? newest.ci_run_id!)}>
            <Branch name={newest.branch} />
            <span class="number">
              {commitOf(newest.commit_hash)}, {count(newest.node_total, 'node')}
            </span>
          </a>
          , <When time={newest.created_at} />
        </>
      )}
    </p>
  );
}
