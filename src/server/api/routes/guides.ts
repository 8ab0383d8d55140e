import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { publicGet } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { refusal, textResponse } from '../openapi/responses.js';
import { fileAnswer } from '../static-file.js';

function guideText({ guides }: Context, request: Request): Answer {
  const file = guides.get(request.path);
  if (!file) throw apiErrors.pathNotFound(request.method, request.path);
  return fileAnswer(file, request, 'no-cache');
}

export const guides = [
  publicGet('/llms.txt', guideText, {
    operationId: 'listGuides',
    summary: 'List the guides, for programs that read.',
    description: 'See https://llmstxt.org.',
    responses: { '200': textResponse('The list.', 'text/plain; charset=utf-8') },
  }),
  publicGet('/docs/:name.md', guideText, {
    operationId: 'getGuide',
    summary: 'Get a guide as Markdown.',
    description: 'Those of `/llms.txt`.',
    responses: {
      '200': textResponse('The guide.', 'text/markdown; charset=utf-8'),
      '404': refusal('There is no such guide.'),
    },
    parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
  }),
];
