import type { Command, Option } from 'commander';
import { print } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';

/** Adds the command `help`, which describes the commands of a program for people or, with --json, for other programs. */
export function addHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help [command...]')
    .description('display help for a command')
    .option('--json', 'print the command and all below it, with arguments and flags, as one JSON object')
    .action((names: readonly string[], { json }: { json?: true }) => {
      let command = program;
      for (const name of names) {
        const found = command.commands.find(each => each.name() === name);
        if (!found) throw new UsageError([`${command.name()} has no command ${name}; "ballast help" lists them`]);
        command = found;
      }
      if (json) print(JSON.stringify(described(command)));
      else command.outputHelp();
    });
}

function described(command: Command): object {
  const options = command.options.map(describedOption);
  return {
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map(each => ({ name: each.name(), required: each.required, variadic: each.variadic })),
    options,
    commands: command.commands.map(described),
  };
}

function describedOption({ flags, description, envVar, defaultValue, argChoices }: Option): object {
  return { flags, description, variable: envVar, default: defaultValue as unknown, choices: argChoices };
}
