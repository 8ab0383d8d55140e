/** A test runner, and how a CI node runs it. */
export interface Runner {
  id: string;
  name: string;
  /** `ballast`: Ballast's own client runs it. `knapsack`: a client of Knapsack Pro does. */
  client: 'ballast' | 'knapsack';
  /** Suffix of the token's variable, with a client of Knapsack Pro. */
  suffix?: string;
  /** A shell script. */
  script: string;
}

/** Its script is the template that follows, from the second line on. */
const queue =
  (id: string, name: string) =>
  ({ raw: [script] }: TemplateStringsArray): Runner => ({ id, name, client: 'ballast', script: script!.slice(1) });

const client = (id: string, name: string, suffix: string, script: string): Runner => ({
  id: `knapsack-${id}`,
  name,
  client: 'knapsack',
  suffix,
  script,
});

/** The recipes of the guides runners.md and clients.md. */
export const runners: readonly Runner[] = [
  queue('jest', 'jest, with jest-junit')`
export JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true
node ballast.mjs queue "src/**/*.test.js" --junit junit.xml --fail-unreported -- \
  npx jest --reporters=default --reporters=jest-junit --runTestsByPath {}`,
  queue('vitest', 'vitest')`
node ballast.mjs queue "src/**/*.test.ts" --junit vitest.xml --fail-unreported -- \
  npx vitest run --reporter=default --reporter=junit --outputFile.junit=vitest.xml {}`,
  queue('playwright', 'Playwright')`
cd tests || exit
export PLAYWRIGHT_JUNIT_OUTPUT_NAME=playwright.xml
node ../ballast.mjs queue "**/*.spec.ts" --junit ../playwright.xml --fail-unreported -- \
  npx playwright test --config .. --reporter=line,junit --test-list {file}`,
  queue('node-test', 'node:test')`
curl -fsSO --retry 6 --retry-connrefused $BALLAST_URL/ballast-node-test.mjs || exit
node ballast.mjs queue "test/**/*.test.js" --junit node.xml --fail-unreported -- \
  node --test --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=./ballast-node-test.mjs --test-reporter-destination=node.xml {}`,
  queue('mocha', 'Mocha')`
node ballast.mjs queue "test/**/*.test.js" --junit mocha.json --fail-unreported -- \
  npx mocha --reporter json --reporter-option output=mocha.json {}`,
  queue('pytest', 'pytest')`
node ballast.mjs queue "tests/**/test_*.py" --junit pytest.xml --fail-unreported -- \
  python3 -m pytest --junitxml=pytest.xml {}`,
  queue('rspec', 'rspec')`
node ballast.mjs queue "spec/**/*_spec.rb" --junit rspec.json --fail-unreported -- \
  bundle exec rspec --format progress --format json --out rspec.json {}`,
  queue('go', 'go test')`
go list -e -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... > packages.txt || exit
node ballast.mjs queue --stdin --junit go-test.txt --fail-unreported -- \
  sh -c 'go test "$@" > go-test.txt; code=$?; cat go-test.txt; exit $code' sh {} < packages.txt`,
  client('rspec', 'knapsack_pro: RSpec', 'RSPEC', 'bundle exec rake knapsack_pro:queue:rspec'),
  client('minitest', 'knapsack_pro: Minitest', 'MINITEST', 'bundle exec rake knapsack_pro:queue:minitest'),
  client('cucumber', 'knapsack_pro: Cucumber', 'CUCUMBER', 'bundle exec rake knapsack_pro:queue:cucumber'),
  client('jest', '@knapsack-pro/jest', 'JEST', 'npx @knapsack-pro/jest'),
  client('vitest', '@knapsack-pro/vitest', 'VITEST', 'npx @knapsack-pro/vitest'),
  client('cypress', '@knapsack-pro/cypress', 'CYPRESS', 'npx @knapsack-pro/cypress'),
  client(
    'playwright',
    '@knapsack-pro/playwright',
    'PLAYWRIGHT',
    'npx @knapsack-pro/playwright --reporter=line,@knapsack-pro/playwright/reporters/batch',
  ),
];

/** The runner with an id, or else the first one whose glob finds a file that the project has; without any, the first one. */
export function runnerOf(id: string | null, path: string | null): Runner {
  const finds = ({ script }: Runner, path: string) => path.endsWith(/\*([^"*]+)" --junit/.exec(script)?.[1] ?? '/');
  return runners.find(runner => runner.id === id) ?? runners.find(runner => path !== null && finds(runner, path)) ?? runners[0]!;
}
