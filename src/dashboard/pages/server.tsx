import type { ComponentChildren } from 'preact';
import type { RefusedLine, ServerAnswer } from '../../api/messages/dashboard.js';
import { useLive } from '../data/live.js';
import { When } from '../parts/amounts.js';
import { FirstLine } from '../parts/first-line.js';
import { Path } from '../parts/path.js';
import { Loaded } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { deletedSentence, recordName, serverSentences } from '../server/sentences.js';
import { bytes, count, number } from '../text/format.js';
import { visible } from '../text/path-text.js';

/** How often the page is loaded again, in seconds. */
const REFRESH = 5;

export function ServerPage() {
  const live = useLive<ServerAnswer>('/dashboard/server', { attempt: 'load the state of the server' }, () => REFRESH);
  return <Loaded live={live}>{server => <Server server={server} />}</Loaded>;
}

function Server({ server }: { server: ServerAnswer }) {
  const { store, memory, sweep, backup, jobs, queues, clients, refused } = server;
  return (
    <>
      <FirstLine sentences={serverSentences(server)}>
        <p class="quiet">
          Ballast {server.version} on Node {server.node.replace(/^v/, '')} with {HTTP_SERVERS[server.http_server] ?? server.http_server},
          since <When time={server.started_at} />.
        </p>
      </FirstLine>
      <ul class="health">
        {server.health.map(({ name, is_ok, text }) => (
          <li key={name}>
            <span class={is_ok ? 'complete-text' : 'failed-text'}>{is_ok ? '✓' : '✕'}</span> <strong>{name}</strong> {text}
          </li>
        ))}
      </ul>
      <Figures title="Now">
        <Figure name="Connections">{number(server.connections)}</Figure>
        <Figure name="Requests">{number(server.requests_in_flight)}</Figure>
        <Figure name="Memory">
          {bytes(memory.resident_bytes)} <span class="quiet">heap {bytes(memory.heap_bytes)}</span>
        </Figure>
        <Figure name="Queues">
          {number(queues.open)} open{' '}
          <span class="quiet">
            {number(queues.in_memory)} in memory, {bytes(queues.bytes)}
          </span>
        </Figure>
        <Figure name="Planning">
          {number(jobs.running)} running, {number(jobs.waiting)} waiting <span class="quiet">{count(jobs.threads, 'thread')}</span>
        </Figure>
      </Figures>
      <Figures title="Store">
        <Figure name="Size">{bytes(store.bytes)}</Figure>
        {store.disk_free_bytes !== null && <Figure name="Disk">{bytes(store.disk_free_bytes)} free</Figure>}
        {Object.entries(store.records).map(([name, records]) => (
          <Figure key={name} name={titled(recordName(name))}>
            {number(records)}
          </Figure>
        ))}
      </Figures>
      <Figures title="Upkeep">
        <Figure name="Kept for">{count(sweep.retention_days, 'day')}</Figure>
        <Figure name="Last sweep">{sweep.last_at === null ? 'none since the start' : <When time={sweep.last_at} />}</Figure>
        {sweep.last_at !== null && <Figure name="Deleted">{deletedSentence(sweep.deleted)}</Figure>}
        <Figure name="Last backup">{backup === null ? 'none' : <When time={backup.last_at} />}</Figure>
      </Figures>
      <section>
        <h2>What could not be used</h2>
        <p class="quiet">Requests of clients that were refused since the start, by reason.</p>
        {refused.length === 0 ? (
          <p>None: every request was understood.</p>
        ) : (
          <Table label="Refused requests" columns={REFUSED} rows={refused} keyOf={refusedKey} />
        )}
      </section>
      <section>
        <h2>Clients since the start</h2>
        {clients.length === 0 ? (
          <p>None has sent a request yet.</p>
        ) : (
          <Table label="Clients" columns={CLIENTS} rows={clients} keyOf={({ name, version }) => `${name} ${version}`} />
        )}
      </section>
    </>
  );
}

const titled = (name: string) => name.replace(/^./, letter => letter.toUpperCase());

const HTTP_SERVERS: Record<string, string> = { uwebsockets: 'uWebSockets.js', node: 'node:http' };

function Figures({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      <dl class="figures">{children}</dl>
    </section>
  );
}

function Figure({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Text that somebody else wrote. A narrow column cuts its end. */
function Words({ text }: { text: string }) {
  const shown = visible(text);
  return (
    <bdi class="words" title={shown}>
      {shown}
    </bdi>
  );
}

const refusedKey = ({ status, path, reason, project, client }: RefusedLine) => JSON.stringify([status, path, reason, project, client]);

const REFUSED: Column<RefusedLine>[] = [
  { name: 'status', title: 'Status', cell: ({ status }) => status },
  { name: 'reason', title: 'Reason', isWide: true, cell: ({ reason }) => <Words text={reason} /> },
  { name: 'path', title: 'Request', isExtra: true, cell: ({ path }) => <Path text={path} /> },
  { name: 'project', title: 'Project', isExtra: true, cell: ({ project }) => (project === null ? '–' : <Path text={project} />) },
  { name: 'client', title: 'Client', isExtra: true, cell: ({ client }) => <Words text={client} /> },
  { name: 'count', title: 'Times', isNumber: true, cell: ({ count }) => number(count) },
  { name: 'last', title: 'Last', isNumber: true, isExtra: true, cell: ({ last_at }) => <When time={last_at} /> },
];

const CLIENTS: Column<ServerAnswer['clients'][number]>[] = [
  { name: 'name', title: 'Client', isWide: true, cell: ({ name }) => <Words text={name} /> },
  { name: 'version', title: 'Version', cell: ({ version }) => <Words text={version} /> },
  { name: 'requests', title: 'Requests', isNumber: true, cell: ({ requests }) => number(requests) },
  { name: 'last', title: 'Last', isNumber: true, cell: ({ last_at }) => <When time={last_at} /> },
];
