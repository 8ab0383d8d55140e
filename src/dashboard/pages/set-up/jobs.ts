/** Values for the holes of a job. */
export interface Values {
  /** The number of parallel nodes. */
  nodes: number;
  /** The variable that has the address of the server, and the address. */
  address: string;
  url: string;
  /** Prefix of the variables for the index of a node and the number of nodes. */
  prefix: string;
  /** The variable that has the token, and the secret of the CI system; both have this name. */
  secret: string;
  /** The token, while it is shown; null: only the name of the secret is known. Steps in a shell only. */
  token: string | null;
  /** Set-up of the tests, and then the tests: a shell script. */
  script: string;
}

/**
 * Makes a job of a text with holes, as <script>. The lines of a value get the indentation of a hole that begins a line.
 * @param own the values that only this text has, or has in another form
 */
const job = (text: string, own?: (values: Values) => Record<string, string | number>) => (values: Values) => {
  const all: Record<string, unknown> = { ...values, url: yaml(values.url), ...own?.(values) };
  return text.replace(/(\n *)?<(\w+)>/g, (_, start = '', name) => start + String(all[name]).replaceAll('\n', start));
};

const yaml = (value: string) => (/^[\w./:-]+$/.test(value) && !/^[\d.:-]+$/.test(value) ? value : JSON.stringify(value));

/** Writes a value as one word of a POSIX shell. */
const quoted = (value: string) => (/^[\w./:@%+,-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);

export const github = job(
  `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    strategy: {fail-fast: false, matrix: {node: [<indexes>]}}
    env:
      <address>: <url>
      <secret>: \${{ secrets.<secret> }}
      <prefix>_NODE_INDEX: \${{ strategy.job-index }}
      <prefix>_NODE_TOTAL: \${{ strategy.job-total }}
    steps:
      - uses: actions/checkout@v7
      - run: |
          <script>`,
  ({ nodes }) => ({ indexes: [...Array(nodes).keys()].join(', ') }),
);

export const gitlab = job(`test:
  parallel: <nodes>
  variables:
    <address>: <url>
  script:
    - |
      <script>`);

export const circle = job(`version: 2.1
jobs:
  test:
    docker: [{image: cimg/node:lts}]
    parallelism: <nodes>
    environment:
      <address>: <url>
    steps:
      - checkout
      - run:
          name: tests
          command: |
            <script>
workflows:
  test: {jobs: [test]}`);

export const buildkite = job(
  `steps:
  - label: tests
    parallelism: <nodes>
    env:
      <address>: <url>
    command: |
      <script>`,
  // The upload of a pipeline replaces $NAME; $$ is a dollar sign.
  ({ script }) => ({ script: script.replaceAll('$', '$$$$') }),
);

export const azure = job(`jobs:
  - job: test
    pool: {vmImage: ubuntu-latest}
    strategy: {parallel: <nodes>}
    steps:
      - script: |
          <script>
        env:
          <address>: <url>
          <secret>: $(<secret>)`);

export const bitbucket = job(
  `definitions:
  steps:
    - step: &test
        name: tests
        script:
          - |
            export <address>=<url>
            <script>
pipelines:
  default:
    - parallel:
        <steps>`,
  ({ nodes, url }) => ({ url: quoted(url), steps: Array(nodes).fill('- step: *test').join('\n') }),
);

export const semaphore = job(
  `version: v1.0
name: tests
agent: {machine: {type: e1-standard-2, os_image: ubuntu2204}}
blocks:
  - name: tests
    task:
      secrets: [{name: ballast}]
      env_vars:
        - {name: <address>, value: <url>}
      jobs:
        - name: tests
          parallelism: <nodes>
          commands:
            - checkout
            - |
              <script>`,
  ({ url }) => ({ url: JSON.stringify(url) }),
);

export const jenkins = job(
  `def total = <nodes>
def stages = [:]
for (int i = 0; i < total; i++) {
  def index = i
  stages["tests \${index}"] = {
    node {
      checkout scm
      withCredentials([string(credentialsId: '<secret>', variable: '<secret>')]) {
        withEnv(["<address>=<url>",
                 "<prefix>_NODE_INDEX=\${index}",
                 "<prefix>_NODE_TOTAL=\${total}"]) {
          sh '''
            <script>
          '''
        }
      }
    }
  }
}
parallel stages`,
  ({ url }) => ({ url: url.replace(/[\\"$]/g, '\\$&') }),
);

const inShell = ({ nodes, url, secret, token }: Values) => ({
  url: quoted(url),
  token: token === null ? `# ${secret}: the secret of the CI system, as an environment variable` : `export ${secret}=${quoted(token)}`,
  last: nodes - 1,
});

/** A step in the shell of a node, for a system whose jobs are not written here. */
export const shell = job('export <address>=<url>\n<token>\n<script>', inShell);

/** The step for a system that does not number parallel jobs. */
export const numberedShell = job(
  `export <address>=<url>
<token>
# of each node, from 0 to <last>
export <prefix>_NODE_INDEX=0
export <prefix>_NODE_TOTAL=<nodes>
<script>`,
  inShell,
);
