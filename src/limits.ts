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
  /** Clients pause for 1 s or longer before they send a run again. Clocks of processes differ by less than the rest. */
  leastPauseMilliseconds: 900,
  buildsPerPage: 100,
  /** Characters of a CI run's id that are kept to show it. */
  ciRunCharacters: 200,
  /** CI runs of one build that are listed. */
  ciRunsPerBuild: 100,
  /** Newest CI runs of a project that are searched for one whose number of nodes is unknown. */
  ciRunsSearched: 5000,
  /** How many of these CI runs are read at a time. */
  ciRunsPerRead: 500,
  /** Invalid entries of lists that one 422 names. */
  reportedInvalidEntries: 1000,

  /** Bytes of the request line and headers; beyond it 431. */
  headBytes: 16_384,
  /** Headers of a request; beyond it 431. uWebSockets.js accepts no more. */
  headersPerRequest: 98,
  /** Time limit of a request's head and of a TLS handshake with node:http. uWebSockets.js has limits of its own. */
  headSeconds: 10,
  /** A connection that is idle for this long is closed, unless its request is being answered. uWebSockets.js knows no other value. */
  idleSeconds: 10,
  /** Requests that may wait for earlier answers on a connection of node:http; beyond it the connection is closed. */
  pipelinedRequests: 100,
  /** Bytes of the requests that wait on a connection of node:http; beyond it the connection is closed. */
  pipelinedBytes: 65_536,
  /** Time limit of a body, even if it keeps arriving slowly. */
  bodySeconds: 30,
  /** Larger answers are sent in chunks of this size, as fast as the client reads. */
  answerChunkBytes: 65_536,
  /** A large build is answered in pieces. A piece ends when its JSON has this many characters. */
  pieceCharacters: 262_144,
  /** A piece ends, too, when it has this many runs. */
  runsPerPiece: 1000,
  /** Test files of a run that are read at a time for a piece. */
  filesReadPerPiece: 2000,
  /** Memory that is counted for an answer in pieces. */
  pieceBytes: 1_048_576,
  /** Jobs of all projects that may wait for a worker thread; beyond it 503. */
  waitingJobs: 4096,
  /** Large requests of a project that may wait for a worker thread; beyond it 503. */
  waitingJobsPerProject: 1024,
  /** Requests of a project for timelines, trends and the like that may wait; beyond it 503. */
  waitingInsightsPerProject: 200,
  /** Completeness checks of different builds of a project that may wait; beyond it 503. */
  waitingComparisonsPerProject: 100,
  /** Requests of all pages that show a project, if its lane allows more; beyond it 429. */
  waitingPagesPerProject: 100,
  /** A worker thread that has had nothing to do for this long ends. */
  idleThreadMilliseconds: 60_000,
  retryAfterSeconds: 2,
  /** Open files that connections may not use, because each thread needs four. At most a quarter of the system's limit. */
  reservedOpenFiles: 256,
  listenRetryMilliseconds: 1000,
  /** A certificate that expires sooner causes a warning when it is read. */
  certificateWarningDays: 7,
  /** Log that is buffered while stderr cannot be written. */
  logBufferCharacters: 1_048_576,
  /** Interval at which the write is tried again. */
  logRetryMilliseconds: 50,
  /** Attempts to write the buffered log on exit. */
  logFlushAttempts: 10,
  /** Interval between log lines about the same event, where it can happen with every request or connection. */
  logThrottleMilliseconds: 60_000,

  /** Requests with at least this many test files are handled by a worker thread. */
  pooledTestFiles: 1000,
  /** A build with at least this many planned and recorded test files is read in a worker thread: 1,000 take 7 ms. */
  pooledInsightFiles: 250,
  /** Bodies of at least this size (about 1,000 test files) go to a worker thread unparsed, unless their suite is cached. */
  pooledBodyBytes: 65_536,
  /** Bodies of at least this size (about 20,000 test files) leave one worker thread to smaller ones, where there are several. */
  largeBodyBytes: 2_097_152,
  /** Free disk space below which nothing is written: more than is written between two checks. */
  diskReserveBytes: 8_388_608,
  diskCheckMilliseconds: 10,
  /** How long to wait after a failed commit for lmdb to report the cause. */
  commitErrorMilliseconds: 2000,
  /** How long /readyz waits for its test write. */
  readySeconds: 2,
  /** How long after its start the result of a test write is reused. */
  readyCacheMilliseconds: 1000,

  /** How long divided work of all kinds goes on in one turn of the event loop. */
  sharedTurnMilliseconds: 2,
  /** Timings that are updated in one turn of the event loop: about a millisecond. */
  timingsPerTurn: 250,
  /** Records that are put in one turn: about a millisecond. The files of a plan are put in one turn, however many they are. */
  putsPerTurn: 200,
  /** How many turns of puts may wait for the disk: what others write comes behind them. */
  putTurnsAhead: 10,
  /** Changed timings are written after this time, or as soon as this many are buffered. */
  timingFlushMilliseconds: 250,
  bufferedTimings: 20_000,
  /** Recorded runs are put into the tables after this time. */
  putRunsMilliseconds: 50,
  /** When this many runs wait, they are put at once. */
  waitingRuns: 500,
  /** A run of more test files is large: it is put at once, without the journal, and after the other large ones of its project. */
  journaledRunFiles: 5000,
  /** Characters of new paths, and of their keys, whose numbers are not on disk yet; beyond it recordings wait. */
  unsavedPathCharacters: 8_388_608,
  /** Time until the changes in the journal are moved to the records of their queues. */
  checkpointMilliseconds: 1000,
  /** A file of the journal grows by this much. */
  journalFileStepBytes: 1_048_576,
  /** A file of the journal that grew in a burst is cut to this size when it is used again. */
  keptJournalFileBytes: 16_777_216,
  /** Test cases that are added up to estimate a file without a time of its own. */
  testCasesPerFile: 10_000,
  /** Test cases that are added up for one request. */
  testCasesPerRequest: 500_000,
  /** Test cases that the main thread adds up for one request. A request that needs more goes to a worker thread. */
  testCasesOnMainThread: 2000,
  /** Test cases measured this long before the last one of their file no longer exist. It is longer than a build takes. */
  staleTestCaseMilliseconds: 21_600_000,
  /** Records that one step of the expiry sweep deletes, approximately. */
  expiredPerStep: 400,
  /** Paths, or entries of `expiry`, that one step checks. */
  pathsPerStep: 500,
  /** The pause between two steps of the sweep. */
  sweepPauseMilliseconds: 20,
  /** The interval of sweeps. */
  sweepEveryMilliseconds: 600_000,
  /** How long after its deletion the data of a project are deleted: longer than any request takes. */
  deletedProjectMilliseconds: 300_000,
  /** Interval of clearing the read locks of killed processes. While one exists, each write enlarges the store. Clearing takes 1 us. */
  staleReadersMilliseconds: 1000,
  /** How long the opening of a store waits for a pause in the writes of others. */
  openSeconds: 10,
  /** How long a write waits for others that open the store. */
  otherOpenMilliseconds: 100,
  /** How long a command may read one snapshot of the store. Meanwhile freed pages cannot be reused. */
  snapshotSeconds: 3600,
  /** Interval at which the server looks whether a snapshot is due. */
  snapshotTickMilliseconds: 10_000,
  /** A snapshot that could not be made is tried again after this time, or after the interval of snapshots if that is shorter. */
  snapshotRetryMilliseconds: 3_600_000,
  /** Free space that a snapshot leaves on the disk of the store. */
  snapshotReserveBytes: 67_108_864,

  /** Validity of a sign-in link of an operator. */
  operatorLinkMilliseconds: 600_000,
  /** Longest validity of a reader's link. */
  readerLinkDays: 365,
  readerLinkDefaultDays: 30,
  tokenNameMaxCharacters: 100,
  /** The text of a setting of a project. */
  settingMaxCharacters: 4000,
  /** An address, or a template of addresses. */
  linkMaxCharacters: 1000,
  /** Addresses of nodes that wait to be noted. Those beyond it are dropped. */
  pendingLinks: 10_000,
  /** Links in force of operators, and of each project. */
  linksPerProject: 100,
  /** Sessions of operators, and of each project; beyond it the one that was not used for longest ends. */
  sessionsPerProject: 200,
  /** A session ends when it is not used for this long. */
  sessionIdleDays: 14,
  /** A session ends this long after its beginning. */
  sessionDays: 90,
  /** Interval at which the last use of a session is stored. */
  sessionUseUpdateMilliseconds: 300_000,
  passwordMinCharacters: 12,
  passwordMaxCharacters: 1024,
  /** Failed sign-ins of an address after which each further one doubles its wait. */
  wrongSignInsPerAddress: 5,
  /** The longest wait of an address. */
  signInWaitMilliseconds: 900_000,
  /** Failed sign-ins of all addresses after which each further one doubles the wait of all. */
  wrongSignInsOfAll: 50,
  /** The longest wait of all addresses. */
  signInWaitOfAllMilliseconds: 10_000,
  /** Time without a failed sign-in after which the earlier ones are forgotten. */
  wrongSignInMilliseconds: 3_600_000,
  /** Addresses whose failed sign-ins are counted. */
  signInAddresses: 10_000,
  /** Builds of a project that the dashboard's list of projects has. */
  recentBuilds: 30,
  /** Clients that the dashboard lists. */
  seenClients: 200,
  /** Kinds of refused requests that the dashboard lists. */
  refusedKinds: 200,
  /** Characters of each text about a client or a refused request. */
  seenTextCharacters: 300,
  /** Interval at which a process tells the others on its store its status, and how many lines of each list are in that. */
  heartbeatMilliseconds: 10_000,
  toldLines: 50,
  /** A process that was not seen for this time is said to be silent, and for the longer time, is left out. */
  silentProcessMilliseconds: 35_000,
  silentProcessShownMilliseconds: 3_600_000,
  /** The dashboard warns of less free space on the disk. */
  diskWarningBytes: 1_073_741_824,
  /** Body of a request of the dashboard; beyond it 413. */
  dashboardBodyBytes: 65_536,

  /** Characters of the texts whose digests are cached. */
  digestedCharacters: 2_000_000,
  /** Valid tokens whose hashes are cached. */
  foundTokens: 1000,
  /** How long a token that was read from a database is taken for valid: another process may have revoked it. */
  knownTokenMilliseconds: 5000,
  /** How long the caller of a statement waits for a database that does not answer. Clients wait 15 s for an answer. */
  databaseWaitMilliseconds: 12_000,
  /** Statements that may wait for a connection to it; beyond it 503. */
  databaseWaiting: 10_000,
  /** How long a connection to it may take to be made, or to be ended. */
  databaseConnectMilliseconds: 5000,
  /** Builds, and owners of pieces, that one statement of a check compares. */
  checkedPerStatement: 500,
  /** After this time a connection is replaced by a new one: the plans of its statements follow the data then. */
  databaseConnectionMilliseconds: 600_000,
  /** Interval at which a serving process asks whether its database is there. */
  databaseWatchMilliseconds: 1000,
  /** Without an answer to that for this time, all connections are made again. */
  databaseSilenceMilliseconds: 2000,
  /** A process is ready until its database has been away for this time. */
  databaseAwayMilliseconds: 60_000,
  /** How long statements that are under way may take when the store is closed. */
  databaseCloseMilliseconds: 2000,
  /** The longest wait until tables are analyzed again after that failed. */
  analyzeRetryMilliseconds: 600_000,
  /** A table with fewer than twice this many pages need not be analyzed: a plan that reads all of it takes no longer. */
  analyzedPages: 8,
  /** A statement with a longer list is planned each time. One statement has fewer runs, and fewer queues of a flight. */
  keptPlanValues: 100,
  /** Runs that one statement records, and learns, and paths that one statement reads. */
  runsPerStatement: 64,
  learntPerStatement: 500,
  pathsPerStatement: 5000,
  /** Paths that one statement numbers or learns: whoever changes the same paths, or creates a build of the project, waits meanwhile. */
  pathsPerChange: 1000,
  /** Builds that a process knows to be in its database. */
  knownBuilds: 10_000,
  /** Test files of all runs that one statement records, unless it is one run. A file has 12 bytes. */
  filesPerStatement: 100_000,
  /** Builds of a branch that are counted to choose a default branch in a database. */
  comparedBuilds: 1000,
  /**
   * Groups of queues at a time that begin to append to their journals: one that another process was faster with goes on beside them, and pauses
   * when it has lost so often.
   */
  flights: 2,
  flightsBeforePause: 5,
  /** How often a pull waits for the note of another process that a batch was delivered: 1 ms, and each time twice as long, or 2 s together. */
  noteWaits: 11,
  /** Records of a kind that are counted: where there are more, their number is an estimate of the database. */
  countedRecords: 10_000,
  /** How often a statement that lost against another one runs again. */
  databaseConflicts: 10,
  /** CI runs whose use of a split is cached, so that it is not stored again. */
  cachedSplitUsers: 2000,
  /** Builds of which the nodes are known that got their part of a split and have not recorded yet, for so long. */
  askingBuilds: 5000,
  splitAskMilliseconds: 12 * 3_600_000,
  /** Builds of which the nodes that recorded are cached. More than the journal takes within `putRunsMilliseconds`. */
  begunBuilds: 10_000,
  /** Memory, in each thread, for each of decoded tokens and decoded splits. */
  decodedRecordBytes: 4_194_304,
  /** Interval at which the last use of a split, queue or token is stored: a small part of the shortest retention, a day. */
  lastUseUpdateMilliseconds: 3_600_000,

  /** Characters of what a node reports as failed; beyond it the files of the test cases count as failed, or all of the batch. */
  failedCharactersPerReport: 1_048_576,
  /** What each path adds to these: many short ones take long, too. */
  failedCharactersPerPath: 64,
  /** Failed test cases that are stored for a batch; beyond it whole files are run again. */
  failedCasesPerBatch: 200,
  /** Characters of all test cases that a queue stores; beyond it whole files are run again. */
  failedCaseCharactersPerQueue: 4_194_304,
  /** Longest wait for a build to become complete. */
  completenessWaitSeconds: 900,
  /** How often a build is checked during that wait. */
  completenessPollMilliseconds: 500,
  /** Bytes of a request that says that a node is cancelled: it has some texts. */
  cancelBytesPerRequest: 262_144,
  /** Entries of each list in an answer about completeness. */
  completenessEntries: 1000,

  /** Hand-outs in an answer of why nodes got their files. */
  explainedBatches: 1000,
  /** Files of one hand-out in that answer. */
  explainedFilesPerBatch: 1000,
  /** Files of all hand-outs in that answer. */
  explainedFiles: 20_000,
  /** The slowest files that the minutes of a build list. */
  slowFiles: 20,
  /** Files of a build that are traced: each takes about 250 bytes. */
  tracedFiles: 400_000,
  /** The same as a request to a collector of OpenTelemetry: each takes about 600 bytes. */
  otlpFiles: 100_000,
  /** Test files over all runs of a build that is merged or checked. */
  mergedTestFiles: 5_000_000,
  /** Characters of the distinct paths of such a build. */
  mergedCharacters: 67_108_864,

  /** A summary is written when no run of its build was recorded for this time. */
  summaryQuietMilliseconds: 5000,
  /** While runs of the build go on being recorded, the summary is written after this additional time. */
  summaryLatestMilliseconds: 60_000,
  /** Interval at which the summaries that are due are looked for. */
  summaryTickMilliseconds: 1000,
  /** Interval at which the summary of a running build is written again, and one that could not be written is tried again. */
  summaryRepeatMilliseconds: 60_000,
  /** The pause after a summary, as a multiple of the time that it took: summaries take at most a fifth of a core. */
  summaryPauseFactor: 4,
  /** Builds that may wait for their summary; others get it when a list shows them. */
  waitingSummaries: 2000,
  /** Projects whose newest builds are looked through at a start for missing summaries. */
  projectsSummarizedAtStart: 100,
  /** Files that grew that one look at the newest builds tells; the others are told by the next ones. */
  grownFilesPerLook: 5,
  /** Grown files of which it is looked up whether they were told. */
  grownFilesRead: 200,
  /** An incomplete CI run that began longer ago is not told: its summary is only written later. */
  toldRunMilliseconds: 86_400_000,
  /** Projects that wait for a look at their newest builds; beyond it the next build has it made. */
  waitingLooks: 1000,
  /** What a project may have waiting to be sent to its webhook; beyond it the oldest is dropped. */
  waitingDeliveriesPerProject: 100,
  /** Interval at which what is due is looked for, and how many webhooks are sent to at a time. */
  deliveryTickMilliseconds: 2000,
  deliveriesAtOnce: 20,
  /** How long a webhook may take to answer. Less than the first pause of deliveries. */
  webhookMilliseconds: 10_000,
  /** Builds in a list with summaries. */
  buildLinesPerPage: 100,
  /** Running CI runs in a list with summaries. */
  runningLines: 20,
  /** The newest CI runs that are searched for running ones. */
  unrecordedRunsSearched: 60,
  /** Summaries that one request for failed builds reads. */
  summariesSearched: 500,
  /** The newest builds that are searched for a part of a name, and the most names that are answered. */
  namesSearched: 2000,
  similarNames: 10,
  /** CI runs of a project that are looked at once a minute, to find those of which nothing is recorded. */
  silentRunsPerLook: 1000,
  /** A CI run without a recording and without a summary counts as running for this time. */
  unrecordedRunMilliseconds: 7_200_000,
  /** Wall times of a day that are kept for the median. */
  wallsPerDay: 10_000,
  /** Days of a trend. */
  trendDays: 400,
  /** The nodes of a CI run that is cancelled are told so within this time. */
  cancelSpreadMilliseconds: 30_000,
  /** The last builds of a branch whose medians are usual, and the files that a comparison lists. */
  usualBuilds: 20,
  comparedFiles: 50,
  /** Builds of a trend of files or nodes, from the newest build back. */
  trendBuilds: 100,
  /** Recorded test files that are read for such a trend. */
  trendTestFiles: 6_000_000,
  /** Files in an answer of a trend. */
  trendFilesPerPage: 1000,
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
   * names of a file. A node tells its pieces, the files that ran whole after a piece or in its place, and at most two others.
   */
  toldBytesPerRequest: 1_048_576,
  toldFilesPerRequest: 100,
  casesPerFile: 5000,
  /** Cases of one name and outcome: more than a report has. */
  casesPerEntry: 1_000_000_000,
  caseNameMaxCharacters: 4096,
  caseCharactersPerFile: 131_072,
  /** Names of cases that passed in the whole file only. */
  passedWholePerFile: 20,
  /** Bytes of told cases that are written at a time. */
  toldBytesPerChange: 65_536,
  /** The most files that a queue cuts into pieces. */
  filesToCut: 200,
  /** Characters of the names of all cases in the pieces of a queue. */
  cutCharactersPerQueue: 1_048_576,
  /** Bytes of what was told of cases that are read to plan a queue or to play a build: about 150 ms of a worker thread. */
  readCaseBytesPerRequest: 16_777_216,
  /** The most pieces of a file. */
  piecesPerFile: 100,
  /** Test files that a worker thread plays in one turn, over all variants: about 100 ms. */
  playedFilesPerTurn: 250_000,
  /** Builds that are played with the same numbers of nodes, of the last ones that are looked at, and their test files. */
  playedBuilds: 10,
  playedBuildsSearched: 30,
  playedBuildFiles: 50_000,
  /** The largest number of nodes that is played to reach a target, unless a build has had more than half of it. */
  recommendedNodes: 250,
  /** Requests of a project to play a build that may wait; beyond it 503. */
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
