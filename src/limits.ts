/** All limits, with the unit in each name. Messages refer to the literals as types. What an operator may set is in server/settings.ts. */
export const limits = {
  /** Length of a test file's path. */
  pathMinCharacters: 3,
  pathMaxCharacters: 4096,
  /** Length of a commit hash, branch, build id or person string. */
  textMaxCharacters: 4096,
  nodesPerBuild: 10_000,
  testFilesPerRequest: 200_000,
  commitAuthorsPerRequest: 10_000,
  /** Objects and arrays in a body: five for each test file. They are counted only in bodies larger than `countedBodyBytes`. */
  jsonContainersPerBody: 1_000_000,
  countedBodyBytes: 1_048_576,
  /** Runs of one node that a build keeps: the first and 100 retries. */
  runsPerNode: 101,
  /** A run that is sent again within this time is the same run; after it, another one. */
  retryWindowMilliseconds: 600_000,
  buildsPerPage: 100,
  /** Characters of a CI run's id that are kept to show it, and CI runs of one build that are listed. */
  ciRunCharacters: 200,
  ciRunsPerBuild: 100,
  /** Newest CI runs of a project that are searched for one whose number of nodes is unknown, and how many at a time. */
  ciRunsSearched: 5000,
  ciRunsPerRead: 500,
  /** Invalid entries of test_files that one 422 lists. */
  reportedInvalidEntries: 1000,

  /** Bytes of the request line and headers, and number of headers; beyond either 431. uWebSockets.js accepts no more headers. */
  headBytes: 16_384,
  headersPerRequest: 98,
  /** Time limit of a request's head and of a TLS handshake with node:http. uWebSockets.js has limits of its own. */
  headSeconds: 10,
  /** A connection that is idle for this long is closed, unless its request is being answered. uWebSockets.js knows no other value. */
  idleSeconds: 10,
  /** Requests, and their bytes, that may wait for earlier answers on a connection of node:http; beyond either it is closed. */
  pipelinedRequests: 100,
  pipelinedBytes: 65_536,
  /** Time limit of a body, even if it keeps arriving slowly. */
  bodySeconds: 30,
  /** Larger answers are sent in chunks of this size, as fast as the client reads. */
  answerChunkBytes: 65_536,
  /** A large build is answered in pieces: JSON characters and runs of one piece, and the memory counted for the answer. */
  pieceCharacters: 262_144,
  runsPerPiece: 1000,
  filesReadPerPiece: 2000,
  pieceBytes: 1_048_576,
  /** Large requests that may wait for a packing thread; beyond either 503. */
  waitingJobs: 4096,
  waitingJobsPerProject: 1024,
  /** Requests for timelines, trends and the like, and completeness checks of different builds, that may wait; beyond either 503. */
  waitingInsightsPerProject: 200,
  waitingComparisonsPerProject: 100,
  /** The same for all pages of the dashboard that show a project, where they may have fewer than its CI jobs; beyond it 429. */
  waitingPagesPerProject: 100,
  idleThreadMilliseconds: 60_000,
  retryAfterSeconds: 2,
  /** Open files that connections may not use, because each thread needs four. At most a quarter of the system's limit. */
  reservedOpenFiles: 256,
  listenRetryMilliseconds: 1000,
  /** A certificate that expires sooner causes a warning when it is read. */
  certificateWarningDays: 7,
  /** A renewed certificate is used after a turn of the event loop as short as this, or after this many turns. */
  shortTurnMilliseconds: 1,
  shortTurnAttempts: 100,
  /** While stderr cannot be written, this much log is buffered and written again after this time; on exit it is tried this often. */
  logBufferCharacters: 1_048_576,
  logRetryMilliseconds: 50,
  logFlushAttempts: 10,
  /** Interval between log lines about the same event, where it can happen with every request or connection. */
  logThrottleMilliseconds: 60_000,

  /** Requests with at least this many test files are handled by a packing thread. */
  pooledTestFiles: 1000,
  /** A packing thread reads the timeline of a build with at least this many planned and recorded test files: 1,000 take 7 ms. */
  pooledInsightFiles: 250,
  /** Bodies of at least this size (about 1,000 test files) are passed to a packing thread without being parsed, unless their list is known. */
  pooledBodyBytes: 65_536,
  /** Free disk space below which nothing is written: more than is written between two checks. */
  diskReserveBytes: 8_388_608,
  diskCheckMilliseconds: 10,
  /** How long to wait after a failed commit for lmdb to report the cause. */
  commitErrorMilliseconds: 500,
  /** How long /readyz waits for its test write, and how long after the start of that write its result is reused. */
  readySeconds: 2,
  readyCacheMilliseconds: 1000,

  /** Timings, and records to put, of one turn of the event loop: about a millisecond. The files of a plan are put in one turn. */
  timingsPerTurn: 250,
  putsPerTurn: 200,
  /** Changed timings are written after this time, or as soon as this many are buffered. */
  timingFlushMilliseconds: 250,
  bufferedTimings: 20_000,
  /** Time that recorded runs wait to be put into the tables, how many may wait, size of a run that is put at once, and builds that are cached. */
  putRunsMilliseconds: 50,
  waitingRuns: 500,
  journaledRunBytes: 65_536,
  buildsRecordedAtOnce: 2000,
  /** Characters of new paths, and of their keys, whose numbers are not on disk yet; beyond it recordings wait. */
  unsavedPathCharacters: 8_388_608,
  /** Time until the changes in the journal are moved to the records of their queues. */
  checkpointMilliseconds: 1000,
  /** A file of the journal grows by this much, and is cut to this size when it is used again after a burst. */
  journalFileStepBytes: 1_048_576,
  keptJournalFileBytes: 16_777_216,
  /** Test cases that are added up to estimate a file without a time of its own: per file, per request, and without a packing thread. */
  testCasesPerFile: 10_000,
  testCasesPerRequest: 500_000,
  testCasesOnMainThread: 2000,
  /** Test cases measured this long before the last one of their file no longer exist. It is longer than a build takes. */
  staleTestCaseMilliseconds: 21_600_000,
  /** Records deleted, and paths and dates checked, in one step of the expiry sweep (approximate), and the pause between steps. */
  expiredPerStep: 400,
  pathsPerStep: 500,
  sweepPauseMilliseconds: 20,
  sweepEveryMilliseconds: 600_000,
  /** How long after its deletion the data of a project are deleted: longer than any request takes. */
  deletedProjectMilliseconds: 300_000,
  /** Interval of clearing the read locks of killed processes. While one exists, each write enlarges the store. Clearing takes 1 us. */
  staleReadersMilliseconds: 1000,
  /** How long to wait for a pause in the writes of others to open a store, and how long writes wait for others that open it. */
  openSeconds: 10,
  otherOpenMilliseconds: 100,
  /** How long a command may read one snapshot of the store. Meanwhile freed pages cannot be reused. */
  snapshotSeconds: 3600,

  /** Validity of a sign-in link of an operator, and the longest and the usual one of a reader's link. */
  operatorLinkMilliseconds: 600_000,
  readerLinkDays: 365,
  readerLinkDefaultDays: 30,
  tokenNameMaxCharacters: 100,
  /** Links in force of operators, and of each project. */
  linksPerProject: 100,
  /** Sessions of operators, and of each project; beyond it the one that was not used for longest ends. */
  sessionsPerProject: 200,
  /** A session ends when it is not used for this long, and this long after its beginning. */
  sessionIdleDays: 14,
  sessionDays: 90,
  /** Interval at which the last use of a session is stored. */
  sessionUseUpdateMilliseconds: 300_000,
  passwordMinCharacters: 12,
  passwordMaxCharacters: 1024,
  /** Failed sign-ins after which each further one doubles the wait, and the longest wait: of one address, and of all. */
  wrongSignInsPerAddress: 5,
  signInWaitMilliseconds: 900_000,
  wrongSignInsOfAll: 50,
  signInWaitOfAllMilliseconds: 10_000,
  /** Time without a failed sign-in after which the earlier ones are forgotten. */
  wrongSignInMilliseconds: 3_600_000,
  /** Addresses whose failed sign-ins are counted. */
  signInAddresses: 10_000,
  /** Builds of a project that the dashboard's list of projects has. */
  recentBuilds: 30,
  /** Clients, and kinds of refused requests, that the dashboard lists, and characters of each of their texts. */
  seenClients: 200,
  refusedKinds: 200,
  seenTextCharacters: 300,
  /** The dashboard warns of less free space on the disk. */
  diskWarningBytes: 1_073_741_824,
  /** Body of a request of the dashboard; beyond it 413. */
  dashboardBodyBytes: 65_536,

  /** Cached: characters of texts with digests of each kind, hashes of valid tokens, CI builds that use a split, and steps of the blobs of plans. */
  knownDigestCharacters: 2_000_000,
  foundTokens: 1000,
  cachedSplitUsers: 2000,
  cachedBlobSteps: 20_000,
  /** Memory, in each thread, for each of decoded tokens and decoded splits. */
  decodedRecordBytes: 4_194_304,
  /** Interval at which the last use of a split, queue or token is stored: a small part of the shortest retention, a day. */
  lastUseUpdateMilliseconds: 3_600_000,

  /** Failed test cases stored for a batch, and their characters in a queue; beyond either, whole files are run again. */
  failedCasesPerBatch: 200,
  failedCaseCharactersPerQueue: 4_194_304,
  /** Longest wait for a build to become complete, how often it is checked meanwhile, and entries of each list in the answer. */
  completenessWaitSeconds: 900,
  completenessPollMilliseconds: 500,
  completenessEntries: 1000,

  /** What one answer tells of why nodes got their files: hand-outs, files of one, and files of all. */
  explainedBatches: 1000,
  explainedFilesPerBatch: 1000,
  explainedFiles: 20_000,
  /** The slowest files that the minutes of a build list, and files of a build that are traced: each takes about 250 bytes. */
  slowFiles: 20,
  tracedFiles: 400_000,
  /** Test files over all runs of a build that is merged or checked, and characters of their distinct paths. */
  mergedTestFiles: 5_000_000,
  mergedCharacters: 67_108_864,

  /** A summary is written when no run of its build was recorded for this time, and at the latest after this additional time. */
  summaryQuietMilliseconds: 5000,
  summaryLatestMilliseconds: 60_000,
  /** Interval at which the summaries that are due are looked for, and at which that of a running build is written again. */
  summaryTickMilliseconds: 1000,
  summaryRepeatMilliseconds: 60_000,
  /** The pause after a summary, as a multiple of the time that it took: summaries take at most a fifth of a core. */
  summaryPauseFactor: 4,
  /** Builds that may wait for their summary; others get it when a list shows them. */
  waitingSummaries: 2000,
  /** Projects whose newest builds are looked through at a start for missing summaries. */
  projectsSummarizedAtStart: 100,
  /** Builds and running CI runs in a list with summaries, and summaries that one request for failed builds reads. */
  buildLinesPerPage: 100,
  runningLines: 20,
  /** The newest CI runs that are searched for running ones. */
  unrecordedRunsSearched: 60,
  summariesSearched: 500,
  /** A CI run without a recording counts as running for this time. */
  unrecordedRunMilliseconds: 7_200_000,
  /** Days of a trend. */
  trendDays: 400,
  /** Builds of a trend of files or nodes, and recorded test files that are read for it, from the newest build back. */
  trendBuilds: 100,
  trendTestFiles: 6_000_000,
  /** Files in an answer of a trend. */
  trendFilesPerPage: 1000,
  /** What a request to play a build may ask: numbers of nodes, the largest of them, seconds of a cost or a spread, and files in pieces. */
  playedVariants: 64,
  playedNodes: 1000,
  playedSeconds: 86_400,
  cutFiles: 20,
  /** Test files that a packing thread plays in one turn, over all variants: about 100 ms. */
  playedFilesPerTurn: 250_000,
  /** Such requests that may wait; beyond it 503. */
  waitingWhatIfsPerProject: 20,
  /** A build with another number of nodes is shown beside a played one if it was created within this time of it. */
  measuredBuildMilliseconds: 1_209_600_000,

  /** Records that an export reads at a time. */
  exportedRecordsPerStep: 200,

  /** Characters of a JUnit report, and depth of its elements. */
  reportCharacters: 268_435_456,
  reportDepth: 64,

  /** Time after SIGTERM for requests that are still being received, and for those being answered. */
  drainReceivingSeconds: 2,
  drainSeconds: 10,
  /** Time after that to close everything else. */
  closeSeconds: 3,
} as const;
