import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wireNames } from '../../../../src/actors/tasks/models/wire-names.ts';
import { mcpToolName } from '../../../../src/actors/tools/mcp/mcp-names.ts';
import { readOffer } from '../../../../src/actors/tools/mcp/read-offer.ts';
import { listed } from './puppet.ts';

const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object;

describe('readOffer', () => {
  it('reads a tool unchanged, and its hash changes with every change of it', () => {
    const { tools, unusable } = readOffer('shop', [listed('refund')]);
    expect(unusable).toEqual([]);
    expect(tools).toEqual([
      {
        name: 'refund',
        description: 'Does refund.',
        parameters: { type: 'object' },
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const digestOf = (more: object) => readOffer('shop', [listed('refund', more)]).tools[0]?.sha256;
    const schema = { type: 'object', properties: { a: { description: 'an id' } } };
    const digests = [{}, { description: 'Does refund!' }, { inputSchema: schema }].map(digestOf);
    expect(new Set(digests).size).toBe(3);
    expect(digestOf({ title: 'Refund', annotations: { readOnlyHint: true } })).toBe(digests[0]);
  });

  it.each([
    ['no object', 7, 'has no name'],
    ['no name', {}, 'has no name'],
    [
      'a name with a space',
      listed('a b'),
      'has a name that no model can call; one is letters, digits, _, -, . and /, at most 122 of them',
    ],
    [
      'a name that is too long',
      listed('a'.repeat(123)),
      'has a name that no model can call; one is letters, digits, _, -, . and /, at most 122 of them',
    ],
    [
      'an empty name',
      listed(''),
      'has a name that no model can call; one is letters, digits, _, -, . and /, at most 122 of them',
    ],
    [
      'a schema of a string',
      listed('a', { inputSchema: { type: 'string' } }),
      'does not accept named arguments (its inputSchema has no type: object)',
    ],
    [
      'an invalid schema',
      listed('a', { inputSchema: 'object' }),
      'does not accept named arguments (its inputSchema has no type: object)',
    ],
    [
      'an endless schema',
      listed('a', { inputSchema: { type: 'object', ...deep } }),
      'has an inputSchema of more than 32 levels',
    ],
    [
      'a huge schema',
      listed('a', { inputSchema: { type: 'object', title: 'x'.repeat(20_000) } }),
      'has an inputSchema of more than 16 KiB',
    ],
  ])('omits %s', (_, entry, reason) => {
    const { tools, unusable } = readOffer('shop', [entry]);
    expect([tools, unusable.map((one) => one.reason)]).toEqual([[], [reason]]);
  });

  it('takes the first of two tools that a rule could not distinguish', () => {
    const { tools, unusable } = readOffer(
      'shop',
      ['pay_out', 'pay-out', 'pay_out'].map((name) => listed(name)),
    );
    expect(tools.map(({ name }) => name)).toEqual(['pay_out']);
    expect(unusable).toEqual([
      { name: 'pay-out', reason: 'is there twice' },
      { name: 'pay_out', reason: 'is there twice' },
    ]);
  });

  it('cuts descriptions, and removes invisible characters', () => {
    const hidden = 'Pays.\u202E\u200B\u{E0041}\u0007 Really.';
    const schema = {
      type: 'object',
      properties: { to: { type: 'string', description: hidden, enum: [' a', 'b\u200B'] } },
    };
    const [tool] = readOffer('shop', [
      listed('pay', { description: `${hidden}${'!'.repeat(5_000)}`, inputSchema: schema }),
    ]).tools;
    expect(tool?.description).toBe(`Pays. Really.${'!'.repeat(1_987)}`);
    expect(tool?.parameters).toEqual({
      type: 'object',
      properties: { to: { type: 'string', description: 'Pays. Really.', enum: [' a', 'b'] } },
    });
  });

  it('shows foreign names on one line, cut', () => {
    const { unusable } = readOffer('shop', [listed(`a\n\u001b[2J${'b'.repeat(1_000)}`)]);
    expect(unusable[0]?.name).toMatch(/^a \\u001b\[2Jb{1,300}$/);
    expect(unusable[0]?.name.length).toBeLessThanOrEqual(310);
  });

  it('accepts names with dots and slashes, which are mapped for a model', () => {
    const names = ['repo.list', 'repo/list', 'n'.repeat(80)];
    const { tools } = readOffer(
      'shop',
      names.map((name) => listed(name)),
    );
    expect(tools.map(({ name }) => name)).toEqual(names);
    const wires = wireNames(tools.map(({ name }) => mcpToolName('shop', name)));
    const sent = names.map((name) => wires.toWire(mcpToolName('shop', name)));
    expect(new Set(sent).size).toBe(3);
    for (const name of sent) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  });

  it('never throws, for any content of the list', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc.record({
              name: fc.jsonValue(),
              inputSchema: fc.jsonValue(),
              description: fc.jsonValue(),
            }),
          ),
        ),
        (list) => {
          const { tools, unusable } = readOffer('shop', list);
          expect(tools.length + unusable.length).toBe(list.length);
        },
      ),
    );
  });
});
