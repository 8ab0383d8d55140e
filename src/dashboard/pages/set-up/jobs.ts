/** What a job of a CI system is made of. */
export interface Job {
  /** The number of parallel nodes. */
  nodes: number;
  /** Variables with plain values. */
  env: readonly (readonly [name: string, value: string])[];
  /** Variables that the system does not set itself: index of the node, number of nodes. */
  numbers: readonly (readonly [name: string, value: string])[];
  /** The variable that has the token, and the secret of the CI system; both have this name. */
  secret: string;
  /** The token, while it is shown; null: only the name of the secret is known. Shell snippets only. */
  token: string | null;
  /** What the tests need, and then the tests: lines of a shell script. */
  script: readonly string[];
}

const indent = (spaces: number, lines: readonly string[]) => lines.map(line => (line ? ' '.repeat(spaces) + line : line));
const yaml = (value: string) => (/^[\w./:-]+$/.test(value) && !/^[\d.:-]+$/.test(value) ? value : JSON.stringify(value));
const entries = (spaces: number, variables: Job['env']) => variables.map(([name, value]) => `${' '.repeat(spaces)}${name}: ${yaml(value)}`);
const counted = (nodes: number) => Array.from({ length: nodes }, (_, i) => i);

/** A value as one word of a POSIX shell. */
export const quoted = (value: string) => (/^[\w./:@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);

export const github = ({ nodes, env, numbers, secret, script }: Job): string[] => [
  'on: push',
  'jobs:',
  '  test:',
  '    runs-on: ubuntu-latest',
  `    strategy: {fail-fast: false, matrix: {node: [${counted(nodes).join(', ')}]}}`,
  '    env:',
  ...entries(6, env),
  `      ${secret}: \${{ secrets.${secret} }}`,
  ...numbers.map(([name, value]) => `      ${name}: ${value}`),
  '    steps:',
  '      - uses: actions/checkout@v7',
  '      - run: |',
  ...indent(10, script),
];

export const gitlab = ({ nodes, env, script }: Job): string[] => [
  'test:',
  `  parallel: ${nodes}`,
  '  variables:',
  ...entries(4, env),
  '  script:',
  '    - |',
  ...indent(6, script),
];

export const circle = ({ nodes, env, script }: Job): string[] => [
  'version: 2.1',
  'jobs:',
  '  test:',
  '    docker: [{image: cimg/node:lts}]',
  `    parallelism: ${nodes}`,
  '    environment:',
  ...entries(6, env),
  '    steps:',
  '      - checkout',
  '      - run:',
  '          name: tests',
  '          command: |',
  ...indent(12, script),
  'workflows:',
  '  test: {jobs: [test]}',
];

// The upload of a pipeline replaces $NAME; $$ is a dollar sign.
export const buildkite = ({ nodes, env, script }: Job): string[] => [
  'steps:',
  '  - label: tests',
  `    parallelism: ${nodes}`,
  '    env:',
  ...entries(6, env),
  '    command: |',
  ...indent(
    6,
    script.map(line => line.replaceAll('$', '$$$$')),
  ),
];

export const azure = ({ nodes, env, secret, script }: Job): string[] => [
  'jobs:',
  '  - job: test',
  '    pool: {vmImage: ubuntu-latest}',
  `    strategy: {parallel: ${nodes}}`,
  '    steps:',
  '      - script: |',
  ...indent(10, script),
  '        env:',
  ...entries(10, env),
  `          ${secret}: $(${secret})`,
];

export const bitbucket = ({ nodes, env, script }: Job): string[] => [
  'definitions:',
  '  steps:',
  '    - step: &test',
  '        name: tests',
  '        script:',
  '          - |',
  ...indent(12, [...env.map(([name, value]) => `export ${name}=${quoted(value)}`), ...script]),
  'pipelines:',
  '  default:',
  '    - parallel:',
  ...counted(nodes).map(() => '        - step: *test'),
];

export const semaphore = ({ nodes, env, script }: Job): string[] => [
  'version: v1.0',
  'name: tests',
  'agent: {machine: {type: e1-standard-2, os_image: ubuntu2204}}',
  'blocks:',
  '  - name: tests',
  '    task:',
  '      secrets: [{name: ballast}]',
  '      env_vars:',
  ...env.map(([name, value]) => `        - {name: ${name}, value: ${JSON.stringify(value)}}`),
  '      jobs:',
  '        - name: tests',
  `          parallelism: ${nodes}`,
  '          commands:',
  '            - checkout',
  '            - |',
  ...indent(14, script),
];

/** A value within a string of Groovy. */
const groovy = (value: string) => value.replace(/[\\"$]/g, '\\$&');

export const jenkins = ({ nodes, env, numbers, secret, script }: Job): string[] => [
  `def total = ${nodes}`,
  'def stages = [:]',
  'for (int i = 0; i < total; i++) {',
  '  def index = i',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of Groovy
  '  stages["tests ${index}"] = {',
  '    node {',
  '      checkout scm',
  `      withCredentials([string(credentialsId: '${secret}', variable: '${secret}')]) {`,
  `        withEnv([${[...env.map(([name, value]) => [name, groovy(value)]), ...numbers].map(([name, value]) => `"${name}=${value}"`).join(',\n                 ')}]) {`,
  "          sh '''",
  ...indent(12, script),
  "          '''",
  '        }',
  '      }',
  '    }',
  '  }',
  '}',
  'parallel stages',
];

/** A step in the shell of a node, for a system whose jobs are not written here. */
export const shell = ({ nodes, env, numbers, secret, token, script }: Job): string[] => [
  ...env.map(([name, value]) => `export ${name}=${quoted(value)}`),
  ...(token === null ? [`# ${secret}: the secret of the CI system, as an environment variable`] : [`export ${secret}=${quoted(token)}`]),
  ...(numbers.length > 0 ? [`# of each node, from 0 to ${nodes - 1}`] : []),
  ...numbers.map(([name, value]) => `export ${name}=${value === 'N' ? nodes : value}`),
  ...script,
];
