import { type Command, Option } from 'commander';
import { formats } from '../reports/format.js';
import { version } from '../version.js';
import { retriesOption, wholeNumber } from './options.js';

export function addImportCommand(program: Command): void {
  program
    .command('import [files...]')
    .description('import timings recorded by other tools, so that the first split is balanced; - is stdin')
    .addOption(new Option('--url <address>', 'address of the server to import into').env('BALLAST_URL'))
    .addOption(new Option('--token <token>', 'test-suite token of the project to import into').env('BALLAST_TOKEN'))
    .addOption(new Option('--format <name>', 'report format (default: detected from the content)').choices(formats))
    .option('--root <folder>', 'folder that paths are relative to, for reports with absolute paths (default: the current folder)')
    .option('--files-from <file>', 'file with the test files as the nodes list them (- is stdin); reports are matched to them')
    .option('--cases', 'import test cases one by one instead of the sum of each file')
    .option('--commit-hash <hash>', 'commit to record reports under (default: import- and a digest of the timings)')
    .option('--branch <name>', 'branch to record reports under', 'main')
    .option('--project <name>', 'project to import from an export that has several')
    .option('--from <address>', 'address of another server of the same protocol; its builds are imported instead of files')
    .addOption(new Option('--from-token <token>', 'test-suite token of the project on that server').env('BALLAST_FROM_TOKEN'))
    .option('--builds <number>', 'number of newest builds to import from that server', wholeNumber('builds'))
    .addOption(retriesOption())
    .option('--dry-run', 'read the files and print what would be imported, but record nothing')
    .option('--json', 'print one JSON object')
    .action(async (files: string[], flags) => (await import('./import.js')).importTimings(files, { ...flags, clientVersion: version }));
}
