import type { Answer } from '../http/request.js';

export function json(status: number, value: object): Answer {
  return { status, body: JSON.stringify(value) };
}
