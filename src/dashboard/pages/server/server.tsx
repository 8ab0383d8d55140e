import type { ComponentChildren } from 'preact';
import { capitalized } from '../../../base/capitalized.js';
import type { ClientLine, RefusedLine, ServerAnswer, ServerProcess } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { When } from '../../parts/amounts.js';
import { Figure } from '../../parts/figure.js';
import { FirstLine } from '../../parts/first-line.js';
import { Path } from '../../parts/path.js';
import { Loaded } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { bytes, count, number } from '../../text/format.js';
import { visible } from '../../text/path-text.js';
import { checkName, checksOf, deletedSentence, recordName, serverSentences } from './sentences.js';

/** Interval at which the page is loaded again, in seconds. */
const REFRESH = 5;

export function ServerPage() {
  const live = useLive<ServerAnswer>('/dashboard/server', { attempt: 'load the state of the server' }, () => REFRESH);
  return <Loaded live={live}>{server => <Server server={server} />}</Loaded>;
}

function Server({ server }: { server: ServerAnswer }) {
  const { processes, store, sweep, backup, clients, refused } = server;
  return (
    <>
      <FirstLine sentences={serverSentences(server)}>
        {processes.length === 1 ? (
          <Version process={processes[0]!} />
        ) : (
          <p class="quiet">{count(processes.length, 'process')} on one database.</p>
        )}
      </FirstLine>
      <ul class="health">
        {checksOf(processes).map(check => (
          <li key={checkName(check)}>
            <span class={check.is_ok ? 'complete-text' : 'failed-text'}>{check.is_ok ? '✓' : '✕'}</span> <strong>{checkName(check)}</strong>{' '}
            {check.text}
          </li>
        ))}
      </ul>
      {processes.length === 1 ? (
        <Now process={processes[0]!} />
      ) : (
        <section>
          <h2>Processes</h2>
          <Table label="Processes" columns={PROCESSES} rows={processes} keyOf={({ name, started_at }) => `${name} ${started_at}`} />
        </section>
      )}
      <Figures title="Store">
        <Figure title="Size">{bytes(store.bytes)}</Figure>
        {store.disk_free_bytes !== null && <Figure title="Disk">{bytes(store.disk_free_bytes)} free</Figure>}
        {Object.entries(store.records).map(([name, records]) => (
          <Figure key={name} title={capitalized(recordName(name))}>
            {number(records)}
          </Figure>
        ))}
      </Figures>
      <Figures title="Upkeep">
        <Figure title="Kept for">{count(sweep.retention_days, 'day')}</Figure>
        <Figure title="Last sweep">{sweep.last_at === null ? 'none since the start' : <When time={sweep.last_at} />}</Figure>
        {sweep.last_at !== null && <Figure title="Deleted">{deletedSentence(sweep.deleted)}</Figure>}
        <Figure title="Last backup">{backup === null ? <span class="over-text">▲ never</span> : <When time={backup.last_at} />}</Figure>
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
          <p>No request has named its client yet.</p>
        ) : (
          <Table label="Clients" columns={CLIENTS} rows={clients} keyOf={({ name, version }) => `${name} ${version}`} />
        )}
      </section>
    </>
  );
}

function Version({ process: { version, node, http_server, started_at } }: { process: ServerProcess }) {
  return (
    <p class="quiet">
      Ballast {version} on Node {node.replace(/^v/, '')} with {HTTP_SERVERS[http_server] ?? http_server}, since <When time={started_at} />.
    </p>
  );
}

function Now({ process: { connections, requests_in_flight, memory, queues, jobs } }: { process: ServerProcess }) {
  return (
    <Figures title="Now">
      <Figure title="Connections">{number(connections)}</Figure>
      <Figure title="Requests">{number(requests_in_flight)}</Figure>
      <Figure title="Memory">
        {bytes(memory.resident_bytes)} <span class="quiet">heap {bytes(memory.heap_bytes)}</span>
      </Figure>
      <Figure title="Queues">
        {number(queues.open)} open{' '}
        <span class="quiet">
          {number(queues.in_memory)} in memory, {bytes(queues.bytes)}
        </span>
      </Figure>
      <Figure title="Planning">
        {number(jobs.running)} running, {number(jobs.waiting)} waiting <span class="quiet">{count(jobs.threads, 'thread')}</span>
      </Figure>
    </Figures>
  );
}

const HTTP_SERVERS: Record<string, string> = { uwebsockets: 'uWebSockets.js', node: 'node:http' };

function Figures({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      <dl class="figures">{children}</dl>
    </section>
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

const PROCESSES: Column<ServerProcess>[] = [
  { name: 'name', title: 'Process', isWide: true, cell: ({ name }) => <Words text={name} /> },
  { name: 'version', title: 'Version', isExtra: true, cell: ({ version }) => version },
  { name: 'node', title: 'Node', isExtra: true, cell: ({ node }) => node.replace(/^v/, '') },
  { name: 'since', title: 'Since', isExtra: true, cell: ({ started_at }) => <When time={started_at} /> },
  { name: 'seen', title: 'Seen', cell: ({ seen_at }) => (seen_at === null ? 'now' : <When time={seen_at} />) },
  { name: 'connections', title: 'Connections', isNumber: true, cell: ({ connections }) => number(connections) },
  { name: 'memory', title: 'Memory', isNumber: true, isExtra: true, cell: ({ memory }) => bytes(memory.resident_bytes) },
  { name: 'queues', title: 'Open queues in memory', isNumber: true, isExtra: true, cell: ({ queues }) => number(queues.open) },
  { name: 'planning', title: 'Suites planned', isNumber: true, isExtra: true, cell: ({ jobs }) => number(jobs.running + jobs.waiting) },
];

const CLIENTS: Column<ClientLine>[] = [
  { name: 'name', title: 'Client', isWide: true, cell: ({ name }) => <Words text={name} /> },
  { name: 'version', title: 'Version', cell: ({ version }) => <Words text={version} /> },
  { name: 'requests', title: 'Requests', isNumber: true, cell: ({ requests }) => number(requests) },
  { name: 'last', title: 'Last', isNumber: true, cell: ({ last_at }) => <When time={last_at} /> },
];
