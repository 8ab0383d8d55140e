/**
 * Runs a test suite on parallel nodes, and then the gate, which fails if a test file was not recorded. The credential BALLAST_TOKEN is a
 * secret text.
 *
 * url: address of the server; nodes: their number; label: of the agents; setup: a closure that runs before the tests;
 * files: globs of the test files, one a line; command: shell script that runs a batch, "$@" stands for its files;
 * reports: globs of the reports that the command writes, one a line; options: more flags of ballast queue, one a line;
 * proved: true if nothing runs when a CI run has shown that all test files pass in this very tree;
 * wait: seconds that the gate waits for nodes that have not recorded yet.
 */
def call(Map args) {
  int total = args.nodes
  def branches = [:]
  for (int i = 0; i < total; i++) {
    int index = i
    branches["tests ${index}".toString()] = {
      onAgent(args, ["BALLAST_NODE_INDEX=${index}", "BALLAST_NODE_TOTAL=${total}"]) {
        if (args.setup) {
          args.setup.call()
        }
        sh '''
          set -ef
          case $BALLAST_COMMAND in *'$@'*) ;; *) echo 'command has no "$@", which stands for the test files' >&2; exit 2 ;; esac
          curl -fsS --retry 6 --retry-connrefused -o ballast-new.mjs "$BALLAST_URL/ballast.mjs" &&
            node ballast-new.mjs --version | grep -q . && mv ballast-new.mjs ballast.mjs ||
            { echo "$BALLAST_URL handed out no client; one that an earlier job left runs, if there is one" >&2; [ -s ballast.mjs ]; }
          set --
          IFS=$BALLAST_NEWLINE
          if [ "$BALLAST_PROVED" = true ] && node ballast.mjs proved $BALLAST_FILES; then exit 0; fi
          for report in $BALLAST_REPORTS; do set -- "$@" "--junit=$report"; done
          node ballast.mjs queue $BALLAST_OPTIONS "$@" $BALLAST_FILES -- sh -ec 'eval "$BALLAST_COMMAND"' sh {}
        '''
      }
    }
  }
  try {
    parallel branches
  } finally {
    onAgent(args, []) {
      try {
        sh '''
          set -ef
          rm -f ballast-verify.xml
          curl -fsS --retry 6 --retry-connrefused -o ballast-new.mjs "$BALLAST_URL/ballast.mjs" &&
            node ballast-new.mjs --version | grep -q . && mv ballast-new.mjs ballast.mjs ||
            { echo "$BALLAST_URL handed out no client; one that an earlier job left runs, if there is one" >&2; [ -s ballast.mjs ]; }
          IFS=$BALLAST_NEWLINE
          if [ "$BALLAST_PROVED" = true ] && node ballast.mjs proved $BALLAST_FILES; then exit 0; fi
          code=0
          node ballast.mjs verify "--wait=$BALLAST_WAIT" || code=$?
          node ballast.mjs verify --format=junit > ballast-verify.xml || :
          exit "$code"
        '''
      } finally {
        junit testResults: 'ballast-verify.xml', allowEmptyResults: true
      }
    }
  }
}

/** A checkout on an agent, with the variables of the client. A scripted pipeline sets none for the commit. */
private void onAgent(Map args, List numbers, Closure body) {
  node(args.label ?: '') {
    def commit = checkout scm
    withCredentials([string(credentialsId: 'BALLAST_TOKEN', variable: 'BALLAST_TOKEN')]) {
      withEnv(numbers + [
        "BALLAST_URL=${args.url}",
        "BALLAST_FILES=${args.files}",
        "BALLAST_COMMAND=${args.command}",
        "BALLAST_REPORTS=${args.reports ?: ''}",
        "BALLAST_OPTIONS=${args.options ?: ''}",
        "BALLAST_PROVED=${args.proved ?: false}",
        "BALLAST_WAIT=${args.wait ?: 120}",
        'BALLAST_NEWLINE=\n',
        "GIT_COMMIT=${commit.GIT_COMMIT}",
        "GIT_BRANCH=${commit.GIT_BRANCH}"
      ], body)
    }
  }
}
