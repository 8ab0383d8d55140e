import type { Command } from 'commander';
import { settings } from '../server/settings.js';
import type { LinkOptions } from './dashboard.js';
import { addDataCommand } from './data-commands.js';
import { addSetting, wholeNumber } from './options.js';

const loadDashboard = () => import('./dashboard.js');

/** Adds the commands for those who use the dashboard. */
export function addDashboardCommands(program: Command): void {
  const dashboard = program.command('dashboard').description('sign in to the dashboard, and list and end sessions');
  const link = addDataCommand(
    dashboard,
    'link',
    'print a link that signs in: an operator, once within 10 minutes',
    async (dataDir, _, flags) => (await loadDashboard()).createSignInLink(dataDir, flags as LinkOptions),
  )
    .option('--project <name>', 'make a link that shows only this project, read-only, any number of times')
    .option('--days <number>', 'days until a link with --project expires, at most 365 (default: 30)', wholeNumber('days'))
    .option('--json', 'print JSON');
  addSetting(link, settings.publicUrl);
  addDataCommand(dashboard, 'password', 'set a password for operators, typed or read from stdin', async (dataDir, _, flags) =>
    (await loadDashboard()).changePassword(dataDir, flags),
  ).option('--remove', 'remove the password: only links sign in');
  addDataCommand(dashboard, 'sessions', 'list the sessions and links in force', async (dataDir, _, flags) =>
    (await loadDashboard()).printSessions(dataDir, flags),
  ).option('--json', 'print JSON');
  addDataCommand(dashboard, 'end <id>', 'end a session, or revoke a link and end its sessions', async (dataDir, id) =>
    (await loadDashboard()).endSessionOrLink(dataDir, id),
  );
}
