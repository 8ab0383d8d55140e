import { describe, expect, it } from 'vitest';
import { toFileTrendsQuery } from '../../../src/api/messages/insight/queries.js';

describe('a parameter that is one of some words', () => {
  it('is refused with these words', () => {
    expect(() => toFileTrendsQuery({ sort: 'size' })).toThrow(
      expect.objectContaining({ status: 422, errors: [{ sort: [expect.stringMatching(/^must be one of (\w+, ){4}\w+$/)] }] }) as Error,
    );
  });
});
