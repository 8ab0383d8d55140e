/**
 * Every bound in one place, its unit in its name. What an operator may change is in config.ts.
 * The literals are types too: the wire types quote them.
 */
export const limits = {
  /** Characters of a test file's path. */
  pathMinCharacters: 3,
  pathMaxCharacters: 4096,
  /** Characters of a commit hash, branch, build id, person string. */
  textMaxCharacters: 4096,
  nodesPerBuild: 10_000,
  testFilesPerRequest: 200_000,
  commitAuthorsPerRequest: 10_000,
  /** Objects and arrays in a body: five for each test file. Those of smaller bodies are not counted. */
  jsonContainersPerBody: 1_000_000,
  countedBodyBytes: 1_048_576,
  /** Runs of one node that a build keeps: the first and 100 retries. */
  runsPerNode: 101,
  /** A run that is sent again so long after the first time is another one. */
  retryWindowMilliseconds: 600_000,
  buildsPerPage: 100,
  /** Failing entries of test_files named in one 422. */
  reportedInvalidEntries: 1000,

  /** Bytes of the request line and headers, and number of headers; above either 431. uWebSockets.js takes no more headers than that. */
  headBytes: 16_384,
  headersPerRequest: 98,
  /** Time for a head to arrive, and for a TLS handshake, with node:http. uWebSockets.js has its own. */
  headSeconds: 10,
  /** A connection without traffic is closed after this time, unless the server works on its request. uWebSockets.js has no other time. */
  idleSeconds: 10,
  /** Requests, and their bytes, that a client may send ahead of their answers to node:http; above either the connection is closed. */
  pipelinedRequests: 100,
  pipelinedBytes: 65_536,
  /** A body may take this long, however steadily it drips. */
  bodySeconds: 30,
  /** Bytes of all bodies being received or worked on, and of large answers being sent, at once; above it 503. Half of it for one token. */
  requestMemoryBytes: 536_870_912,
  /** Answers above this are written in pieces as the socket takes them. */
  answerChunkBytes: 65_536,
  /** Characters of JSON, and runs, that a packing thread reads of a large build at a time; the memory counted for an answer in such pieces. */
  pieceCharacters: 262_144,
  runsPerPiece: 1000,
  pieceBytes: 1_048_576,
  /** Large requests that may wait for a packing thread; above it 503. */
  waitingJobs: 4096,
  waitingJobsPerProject: 1024,
  /** Comparisons of different builds that may wait for their turn; above it 503. */
  waitingComparisonsPerProject: 100,
  idleThreadMilliseconds: 60_000,
  retryAfterSeconds: 2,
  /** Open files that are kept from connections, or a quarter of all where that is less: threads take four each. */
  reservedOpenFiles: 256,
  listenRetryMilliseconds: 1000,
  /** A certificate that ends sooner is warned of when it is read. */
  certificateWarningDays: 7,
  /** A renewed certificate waits for a turn of the event loop as short as that, but no more turns. */
  shortTurnMilliseconds: 1,
  shortTurnAttempts: 100,
  /** Of a log that cannot be written just now: so much is kept, it is tried again so much later, and at the end so often. */
  logBufferCharacters: 1_048_576,
  logRetryMilliseconds: 50,
  logFlushAttempts: 10,
  /** What may happen with every request or connection is logged no more often. */
  logThrottleMilliseconds: 60_000,

  /** From this many test files on, a request is worked on in the pool. */
  pooledTestFiles: 1000,
  /** A body of this size is handed to the pool unread: about 1,000 test files. */
  pooledBodyBytes: 65_536,

  /** Nothing is written while the disk has less left: more than is written between two looks at it. */
  diskReserveBytes: 8_388_608,
  diskCheckMilliseconds: 10,
  /** After a failed commit lmdb has so long to tell why. */
  commitErrorMilliseconds: 500,
  /** How long /readyz waits for its probe write, and how long after its beginning the outcome is reused. */
  readySeconds: 2,
  readyCacheMilliseconds: 1000,

  /** Timings that one turn of the event loop looks up, changes or writes, and records that it puts: about a millisecond. */
  timingsPerTurn: 250,
  putsPerTurn: 100,
  /** Timings are written so long after they changed, or at once when there are so many. */
  timingFlushMilliseconds: 250,
  bufferedTimings: 20_000,
  /** Memory for paths and their numbers: about 500,000 paths of usual length. Each packing thread may use as much. */
  pathNumbersBytes: 100_663_296,
  /** Characters of new paths whose numbers are not on disk yet, with their keys; a recording waits when there are more. */
  unsavedPathCharacters: 8_388_608,
  /** What queues handed out is moved from the journal to each queue's own records so long after it was written. */
  checkpointMilliseconds: 1000,
  /** Turns of the event loop that may wait for a checkpoint, when that fails again and again; beyond them 503. */
  pendingJournalTurns: 100_000,
  /** Characters from clients in these turns: from an eighth of it on, the checkpoint runs at once; at the limit 503. */
  pendingJournalCharacters: 33_554_432,
  /** Test cases whose times are added up where the file itself is not known: of a file; in a request; without the pool. */
  testCasesPerFile: 10_000,
  testCasesPerRequest: 500_000,
  testCasesOnMainThread: 2000,
  /** Those measured so long before the last one of their file are gone: longer than a build takes. */
  staleTestCaseMilliseconds: 21_600_000,
  /** About as many records one step of the expiry sweep deletes, or paths it looks at; the pause between two steps. */
  expiredPerStep: 400,
  pathsPerStep: 500,
  sweepPauseMilliseconds: 20,
  sweepEveryMilliseconds: 600_000,
  /** How often the read locks of killed processes are cleared: until then every write makes the store's file grow. Clearing takes a microsecond. */
  staleReadersMilliseconds: 1000,
  /** How long a command may read one state of the store: meanwhile freed pages cannot be reused. */
  snapshotSeconds: 3600,

  /** CI builds that are remembered to use a split, so that no look at the store is needed. */
  cachedSplitUsers: 2000,
  /** Blocks of the files of queues that are kept in memory for the next node. */
  fileBlockCacheBytes: 33_554_432,
  /** A split or queue in use is noted as such no more often; a small part of the least retention, a day. */
  lastUseUpdateMilliseconds: 3_600_000,

  /** Failed test cases kept of a batch, and their characters in a queue; beyond either, the whole files are run again. */
  failedCasesPerBatch: 200,
  failedCaseCharactersPerQueue: 4_194_304,

  /** How long an incomplete build may be waited for, how often it is looked at meanwhile, and entries of each list. */
  completenessWaitSeconds: 900,
  completenessPollMilliseconds: 500,
  completenessEntries: 1000,

  /** Test files over all runs of a build that are merged or compared, and characters of their paths, each path counted once. */
  mergedTestFiles: 5_000_000,
  mergedCharacters: 67_108_864,

  /** Records that an export reads at a time, and names of paths that it remembers. */
  exportedRecordsPerStep: 200,
  exportPathCacheBytes: 67_108_864,

  /** Of a JUnit report: characters, and how deep its elements are nested. */
  reportCharacters: 268_435_456,
  reportDepth: 64,

  /** After SIGTERM, requests still being sent get this long, and those being answered the longer time. */
  drainReceivingSeconds: 2,
  drainSeconds: 10,
  /** What is left to close behind these gets so long. */
  closeSeconds: 3,
} as const;

/** The relations that the numbers above must keep. */
export const related =
  limits.pathMinCharacters < limits.pathMaxCharacters &&
  limits.pooledTestFiles <= limits.testFilesPerRequest &&
  limits.drainReceivingSeconds <= limits.drainSeconds;
