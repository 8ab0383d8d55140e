import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** Of the fast tier: a test that starts a process belongs to another one (tiers.ts). */
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const) {
  childProcess[name] = (() => {
    throw new Error(`a test of the fast tier calls child_process.${name}: list its file in test/tiers.ts`);
  }) as never;
}
syncBuiltinESMExports();
