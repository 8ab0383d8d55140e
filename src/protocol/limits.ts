/**
 * The limits that callers meet, or that several programs share, with the unit in each name. Messages refer to the literals as types. Other bounds
 * lie beside their use, and what an operator may set is in server/process/settings.ts.
 */
export const limits = {
  /** Length of a test file's path. */
  pathMinCharacters: 3,
  pathMaxCharacters: 4096,
  /** Length of a commit hash, branch, build id or person string. */
  textMaxCharacters: 4096,
  nodesPerBuild: 10_000,
  testFilesPerRequest: 200_000,
  commitAuthorsPerRequest: 10_000,
  /** Objects and arrays in a body: five for each test file. They are counted only in bodies larger than 1 MiB. */
  jsonContainersPerBody: 1_000_000,
  /** Runs of one node that a build keeps: the first and 100 retries. */
  runsPerNode: 101,
  buildsPerPage: 100,
  /** Characters of a CI run's id that are kept to show it. */
  ciRunCharacters: 200,

  /** Bytes of the request line and headers; beyond it 431. */
  headBytes: 16_384,
  /** Headers of a request; beyond it 431. uWebSockets.js accepts no more. */
  headersPerRequest: 98,
  /** Time limit of a body, even if it keeps arriving slowly. */
  bodySeconds: 30,
  retryAfterSeconds: 2,

  /** Free disk space below which nothing is written: more than is written between two checks. */
  diskReserveBytes: 8_388_608,

  /** Longest validity of a reader's link. */
  readerLinkDays: 365,
  tokenNameMaxCharacters: 100,
  /** The text of a setting of a project. */
  settingMaxCharacters: 4000,
  /** An address, or a template of addresses. */
  linkMaxCharacters: 1000,
  /** Texts that name what else the tests of a node depend on, and the folder of the tests. */
  proofKeys: 21,
  /** These keys in a query. */
  proofKeysMaxCharacters: 1364,
  /** Longest age of a CI run that proves something: a year. */
  proofMaxAgeSeconds: 31_536_000,
  passwordMinCharacters: 12,
  passwordMaxCharacters: 1024,
  /** Body of a request of the dashboard; beyond it 413. */
  dashboardBodyBytes: 65_536,

  /** Characters of what a node reports as failed; beyond it the files of the test cases count as failed, or all of the batch. */
  failedCharactersPerReport: 1_048_576,
  /** Characters that each path adds to these: many short paths take long, too. */
  failedCharactersPerPath: 64,
  /** Failed test cases that are stored for a batch; beyond it whole files are run again. */
  failedCasesPerBatch: 200,
  /** Characters of all test cases that a queue stores; beyond it whole files are run again. */
  failedCaseCharactersPerQueue: 4_194_304,
  /** Longest wait for a build to become complete. */
  completenessWaitSeconds: 900,
  /** Bytes of a heartbeat: it has some texts. */
  heartbeatBytesPerRequest: 262_144,
  /** Entries of each list in an answer about completeness. */
  completenessEntries: 1000,

  /** Test files over all runs of a build that is merged or checked. */
  mergedTestFiles: 5_000_000,
  /** Characters of the distinct paths of such a build. */
  mergedCharacters: 67_108_864,

  /** Builds in a list with summaries. */
  buildLinesPerPage: 100,
  /** Days of a trend. */
  trendDays: 400,
  /** Builds of a trend of files or nodes, from the newest build back. */
  trendBuilds: 100,
  /** Recorded test files that are read for such a trend. */
  trendTestFiles: 6_000_000,
  /** Files in an answer of a trend. */
  trendFilesPerPage: 1000,
  /** Files in an answer about flaky files. */
  flakyFiles: 1000,
  /** Numbers of nodes in a request to play a build. */
  playedVariants: 64,
  /** The largest of these numbers. */
  playedNodes: 1000,
  /** The longest cost or spread in such a request. */
  playedSeconds: 86_400,
  /** Files that such a request cuts by hand. */
  cutFiles: 20,
  /**
   * Bytes and files of a request that tells cases; the cases of a file that differ in name or outcome, and the characters of a name and of all
   * names of a file. A node tells its pieces, the files that ran whole after a piece or in its place, and at most five others.
   */
  caseReportBytesPerRequest: 1_048_576,
  caseReportFilesPerRequest: 100,
  casesPerFile: 5000,
  /** Cases of one name and outcome: more than a report has. */
  casesPerEntry: 1_000_000_000,
  caseNameMaxCharacters: 4096,
  caseCharactersPerFile: 131_072,
  /** Files that failed whose cases a node tells although they are short, and that the verdict of a build names. */
  namedFailures: 3,
  /** Complete builds before one, whose median says what is usual. */
  usualBuilds: 20,
  /** Names of cases that passed in the whole file only. */
  passedWholePerFile: 20,
  /** Bytes of the file of muted failures in a repository, and its lines: people review each. */
  mutesBytes: 65_536,
  mutes: 200,
} as const;
