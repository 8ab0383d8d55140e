import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { version } from '../../src/base/version.js';
import { CLOSE_SECONDS } from '../../src/cli/server/serve.js';
import { DRAIN_SECONDS } from '../../src/server/http/server.js';
import { settings } from '../../src/server/process/settings.js';

const root = fileURLToPath(new URL('../../../scripts/deploy/', import.meta.url));
const chart = join(root, 'helm/ballast');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

const image = read('Dockerfile');
const composed = ['compose.yaml', 'compose.database.yaml'].map(name => read(name));
const values = parse(read('helm/ballast/values.yaml'));
const templates = readdirSync(join(chart, 'templates')).map(name => read('helm/ballast/templates', name));
const pod = read('helm/ballast/templates/_pod.tpl');

/** Variables that the image sets for the server. */
const imageEnv = Object.fromEntries([...image.matchAll(/\b(BALLAST_[A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
/** Texts of the first group. */
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!);

describe('the files of scripts/deploy', () => {
  it('name only settings that exist', () => {
    const known = Object.values(settings).map(({ env }) => env);
    for (const text of [image, ...composed, ...templates, read('helm/ballast/values.yaml'), read('ballast.service')])
      expect(found(text, /\b(BALLAST_[A-Z_]+)\b/g).filter(name => !known.includes(name))).toEqual([]);
    expect(found(pod, /\b(BALLAST_[A-Z_]+)\b/g).length).toBeGreaterThan(8);
  });

  it('give a server the time that it needs to stop', () => {
    const seconds = DRAIN_SECONDS + CLOSE_SECONDS;
    for (const text of composed) expect(Number(/stop_grace_period: (\d+)s/.exec(text)?.[1])).toBeGreaterThan(seconds);
    expect(Number(/TimeoutStopSec=(\d+)/.exec(read('ballast.service'))?.[1])).toBeGreaterThan(seconds);
    const waits = Number(/sleep: \{ seconds: (\d+)/.exec(pod)?.[1]);
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(pod)?.[1])).toBeGreaterThan(waits + seconds);
  });

  it('agree with the image about its user, ports and folders', () => {
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(image)!;
    expect(image).toContain(`install -d -m 700 -o ${user} -g ${group} /data /snapshots`);
    expect(values.podSecurityContext).toMatchObject({ runAsUser: Number(user), runAsGroup: Number(group), fsGroup: Number(group) });
    expect(image).toMatch(new RegExp(`^EXPOSE ${imageEnv.BALLAST_PORT}$`, 'm'));
    expect(pod).toContain(`{ name: http, containerPort: ${imageEnv.BALLAST_PORT} }`);
    const [admin] = found(pod, /BALLAST_ADMIN_PORT, value: "(\d+)"/g);
    expect(pod).toContain(`{ name: metrics, containerPort: ${admin} }`);
    expect(read('helm/ballast/templates/servicemonitor.yaml')).toContain(`port: ${admin}, targetPort: metrics`);
    expect(pod).toContain(`mountPath: ${imageEnv.BALLAST_DATA_DIR} }`);
    const { services } = parse(composed[0]!);
    expect(services.ballast.volumes).toEqual([
      `data:${imageEnv.BALLAST_DATA_DIR}`,
      `snapshots:${services.ballast.environment.BALLAST_SNAPSHOT_DIR}`,
    ]);
    expect(read('haproxy.cfg')).toContain(`server one one:${imageEnv.BALLAST_PORT}`);
  });
});

describe('the chart', () => {
  it('has the version of Ballast, as the files for Docker Compose have', () => {
    for (const text of composed) expect(found(text, /image: ballast:(\S+)/g)).toEqual([version]);
    expect(parse(read('helm/ballast/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('has a schema that accepts its values, knows each, and refuses a misspelt one', () => {
    const schema = JSON.parse(read('helm/ballast/values.schema.json'));
    const isValid = new Ajv().compile(schema);
    expect(isValid(values) ? [] : isValid.errors).toEqual([]);
    // Charts that contain this one may have global values.
    expect(Object.keys(values).sort()).toEqual(
      Object.keys(schema.properties)
        .filter(name => name !== 'global')
        .sort(),
    );
    expect(isValid({ ...values, replica: 2 })).toBe(false);
    expect(isValid({ ...values, database: { ...values.database, uri: '' } })).toBe(false);
  });

  it('uses each value, and no other', () => {
    const text = templates.join('\n');
    for (const name of Object.keys(values)) expect(text).toMatch(new RegExp(`\\.Values\\.${name}\\b|(?<=with \\.Values[^]*)\\.${name}\\b`));
    for (const path of found(text, /\.Values\.([A-Za-z.]+)/g)) {
      const value = path.split('.').reduce((value, name) => value?.[name], values);
      expect({ path, value }).toEqual({ path, value: expect.anything() });
    }
  });
});

const hasHelm = spawnSync('helm', ['version']).status === 0;

describe.skipIf(!hasHelm)('the chart, rendered by helm (skipped where helm is not installed)', () => {
  /** Renders the chart with these values. */
  function render(...set: string[]) {
    const { stdout, stderr } = spawnSync('helm', ['template', 'one', chart, ...set.flatMap(value => ['--set', value])], {
      encoding: 'utf8',
    });
    return { error: stderr, objects: parseAllDocuments(stdout).flatMap(document => document.toJS() ?? []) };
  }
  const DATABASE = 'database.url=postgres://ballast@db/ballast';
  const kinds = ({ objects }: ReturnType<typeof render>) => objects.map(({ kind }) => kind).sort();

  it('passes its lint', () => {
    const { status, stdout } = spawnSync('helm', ['lint', '--strict', chart], { encoding: 'utf8' });
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });

  it('is one pod on a volume, or several on a database', () => {
    expect(kinds(render())).toEqual(['Service', 'ServiceAccount', 'StatefulSet']);
    expect(kinds(render(DATABASE, 'replicas=2'))).toEqual(['Deployment', 'PodDisruptionBudget', 'Service', 'ServiceAccount']);
    const [set] = render('snapshots.enabled=true').objects.filter(({ kind }) => kind === 'StatefulSet');
    expect(set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: object }) => metadata)).toEqual([
      { name: 'data' },
      { name: 'snapshots' },
    ]);
    expect(set.spec.template.spec.containers[0].env).toContainEqual({ name: 'BALLAST_SNAPSHOT_EVERY', value: '6h' });
  });

  it('has a Service for metrics only with a ServiceMonitor, and that alone has its label', () => {
    const { objects } = render('serviceMonitor.enabled=true');
    const { matchLabels } = objects.find(({ kind }) => kind === 'ServiceMonitor').spec.selector;
    const selected = objects.filter(
      ({ kind, metadata }) => kind === 'Service' && Object.entries(matchLabels).every(([name, value]) => metadata.labels[name] === value),
    );
    expect(selected.map(({ metadata }) => metadata.name)).toEqual(['one-ballast-metrics']);
  });

  it.each<[message: RegExp, set: string[]]>([
    [/^Error: .*replicas is 2, but only one pod can serve a volume/, ['replicas=2']],
    [/database\.url has a password/, ['database.url=postgres://ballast:secret@db/ballast']],
    [/snapshots are of a volume/, [DATABASE, 'snapshots.enabled=true']],
    [/name the Secret that has the URL/, ['database.urlKey=url']],
    [/the URL is in one place/, [DATABASE, 'database.existingSecret=s', 'database.urlKey=url']],
    [/name the host/, ['ingress.enabled=true']],
    [/'replica' not allowed/, ['replica=2']],
  ])('refuses values that contradict each other: %s', (message, set) => {
    expect(render(...set).error).toMatch(message);
  });
});
