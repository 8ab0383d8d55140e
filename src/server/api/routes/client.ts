import type { Answer } from '../../http/request.js';
import { type ClientFile, clientFileNames } from '../client-files.js';
import type { Context } from '../context.js';
import { publicGet } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { textResponse } from '../openapi/responses.js';
import { fileAnswer } from '../static-file.js';

/** Throws a 404 when it was not built. */
function builtFile({ client }: Context, name: string): ClientFile {
  const file = client.files.get(name);
  if (!file) throw apiErrors.notBuilt('client');
  return file;
}

/** The checksum of a file, as sha256sum writes it. */
function checksumOf(context: Context, name: string): Answer {
  return { status: 200, body: `${builtFile(context, name).checksum}  ${name}\n`, contentType: 'text/plain; charset=utf-8' };
}

/** The endpoints that get the file of one of Ballast's own clients, and its checksum. @param id their operationId without the verb */
const fileOfClient = (client: string, id: string, what: string, description: string, type = 'text/javascript') => {
  const name = clientFileNames.get(client)!;
  return [
    publicGet(`/${name}`, (context, request) => fileAnswer(builtFile(context, name), request, 'no-cache'), {
      operationId: `get${id}`,
      summary: `Get the ${what}.`,
      description: `${description} It has the version of this server.`,
      responses: { '200': textResponse('The file.', `${type}; charset=utf-8`) },
    }),
    publicGet(`/${name}.sha256`, context => checksumOf(context, name), {
      operationId: `get${id}Checksum`,
      summary: `Get the checksum of the ${what}.`,
      description: 'As `sha256sum --check` reads it.',
      responses: { '200': textResponse('The checksum.', 'text/plain; charset=utf-8') },
    }),
  ];
};

export const clientFiles = [
  ...fileOfClient('ballast', 'Client', 'program of a CI node', 'One file for Node: `node ballast.mjs --help`.'),
  ...['Jest', 'Playwright', 'Vitest'].flatMap(runner =>
    fileOfClient(
      `ballast-${runner.toLowerCase()}`,
      `${runner}Plugin`,
      `plugin of ${runner}`,
      `One file, which the configuration of ${runner} names.`,
    ),
  ),
  ...fileOfClient(
    'ballast-node-test',
    'NodeTestReporter',
    'reporter of node:test',
    'One file: `node --test --test-reporter=./ballast-node-test.mjs`. It writes a JUnit report.',
  ),
  ...fileOfClient(
    'ballast-pytest',
    'PytestPlugin',
    'plugin of pytest',
    'One file for Python: `python3 -m pytest -p ballast_pytest`.',
    'text/x-python',
  ),
];
