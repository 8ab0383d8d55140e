import type { Command } from 'commander';
import { type Config, parseConfig } from '../server/config.js';
import { settings } from '../server/settings.js';
import { addSetting } from './options.js';
import { requireServerPlatform } from './process/supported.js';

type SettingTexts = { [K in keyof Config]?: string };

export function addServeCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  const command = program.command('serve').description('run the server until SIGTERM');
  for (const setting of Object.values(settings)) addSetting(command, setting);
  command
    .addHelpText('after', `\nEnvironment only:\n${secretsHelp()}`)
    .hook('preAction', requireServerPlatform)
    .action(async (flags: SettingTexts) => {
      const { serve } = await import('./serve.js');
      await serve(parseConfig(withSecrets(flags, environment)), unknownVariables(program, environment));
    });
}

/** Variables that look like settings, but that no command reads. */
function unknownVariables(program: Command, environment: NodeJS.ProcessEnv): string[] {
  const optionVariables = (command: Command): (string | undefined)[] => [
    ...command.options.map(({ envVar }) => envVar),
    ...command.commands.flatMap(optionVariables),
  ];
  // `queue` sets BALLAST_BATCH for its command.
  const known = new Set([...optionVariables(program), settings.bootstrapToken.env, 'BALLAST_BATCH']);
  return Object.keys(environment).filter(name => name.startsWith('BALLAST_') && !known.has(name));
}

function withSecrets(flags: SettingTexts, environment: NodeJS.ProcessEnv): SettingTexts {
  const token = environment[settings.bootstrapToken.env];
  return token === undefined ? flags : { ...flags, bootstrapToken: token };
}

function secretsHelp(): string {
  return Object.values(settings)
    .filter(({ flag }) => flag === null)
    .map(({ env, help }) => `  ${env}  ${help}`)
    .join('\n');
}
