/** What CI systems read to start a number of nodes. Each is YAML; strings are written as in JSON, which is YAML. */

/** A matrix for `fromJSON` of GitHub Actions: a job for each node. */
export function githubMatrix(nodes: number): string {
  return `${JSON.stringify({ node_index: Array.from({ length: nodes }, (_, node) => node), node_total: [nodes] })}\n`;
}

/** A child pipeline of GitLab. @param template the file of the repository that defines the hidden job .tests */
export function gitlabPipeline(nodes: number, template: string): string {
  return ['include:', `  - local: ${JSON.stringify(template)}`, 'tests:', '  extends: .tests', `  parallel: ${nodes}`, ''].join('\n');
}

/** A step for `buildkite-agent pipeline upload`. */
export function buildkitePipeline(nodes: number, command: readonly string[]): string {
  // The upload replaces variables, and $$ is a dollar sign.
  const text = command.map(shellWord).join(' ').replaceAll('$', '$$$$');
  return ['steps:', '  - label: "tests"', `    command: ${JSON.stringify(text)}`, `    parallelism: ${nodes}`, ''].join('\n');
}

/** Quotes an argument for a POSIX shell, unless it needs no quotes. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
