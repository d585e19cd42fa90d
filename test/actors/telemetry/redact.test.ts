import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactFields, redactName } from '../../../src/actors/telemetry/redact.ts';

const privateText = fc.string().map((text) => `ann@example.com ${text}`);

describe('redactFields', () => {
  it('shows identifiers, names, counts and times, and no text of a person or a model', () => {
    expect(
      redactFields({
        run: {
          id: 'r1',
          tags: { workflow_id: 'ann' },
          requester: { provider: 'oidc', userId: 'u1', email: 'ann@example.com' },
          request: { role: 'user', messageId: 'm1', parts: [{ kind: 'text', text: 'refund me' }] },
        },
        turns: 2,
        pending: [{ id: 'c1', tool: 'issue_refund', args: { order: 'A-1042' } }],
        exchanges: [{ call: { id: 'c0', tool: 'lookup_order', args: {} }, result: 'Ann Lee' }],
        deferral: {
          id: 'd1',
          tool: 'issue_refund',
          context: 'Refund for Ann Lee',
          to: 'channel:console:ann',
          approvers: ['ann@example.com'],
          quorum: 1,
          approvals: [{ approver: 'ann@example.com', at: 5 }],
          expiresAt: 9,
        },
        failure: null,
      }),
    ).toEqual({
      run: {
        id: 'r1',
        tags: '[redacted]',
        requester: '[redacted]',
        request: { role: 'user', messageId: 'm1', parts: '[redacted]' },
      },
      turns: 2,
      pending: [{ id: 'c1', tool: 'issue_refund', args: '[redacted]' }],
      exchanges: [
        { call: { id: 'c0', tool: 'lookup_order', args: '[redacted]' }, result: '[redacted]' },
      ],
      deferral: {
        id: 'd1',
        tool: 'issue_refund',
        context: '[redacted]',
        to: '[redacted]',
        approvers: '[redacted]',
        quorum: 1,
        approvals: [{ approver: '[redacted]', at: 5 }],
        expiresAt: 9,
      },
      failure: null,
    });
  });

  it('hides text under a shown key that is no plain name', () => {
    expect(redactFields({ id: 'ann@example.com', tool: 'rm -rf /', kind: { a: 1 } })).toEqual({
      id: '[redacted]',
      tool: '[redacted]',
      kind: '[redacted]',
    });
  });

  it('hides a list or a string where fields were expected', () => {
    expect(redactFields({ input: 'secret', call: [['secret'], null, 7] })).toEqual({
      input: '[redacted]',
      call: ['[redacted]', null, '[redacted]'],
    });
  });

  it('shows the first hundred items of a list', () => {
    const pending = Array.from({ length: 101 }, (_, index) => ({ id: `c${index}` }));
    expect(redactFields({ pending })).toEqual({ pending: pending.slice(0, 100) });
  });

  it('never shows a string that is no plain name, in any shape', () => {
    const key = fc.constantFrom('id', 'tool', 'text', 'args', 'call', 'input', 'pending', 'parts');
    const { fields } = fc.letrec((tie) => ({
      value: fc.oneof(privateText, fc.array(tie('value'), { maxLength: 3 }), tie('fields')),
      fields: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(fields, (value) => {
        expect(JSON.stringify(redactFields(value as object))).not.toContain('ann@example.com');
      }),
    );
  });
});

describe('redactName', () => {
  it.each(['r1', 'task:r1', '0.task.working.thinking', 'deferral.*', 'server__tool'])(
    'shows %s',
    (name) => {
      expect(redactName(name)).toBe(name);
    },
  );

  it.each(['', 'two words', 'ann@example.com', 'a\nb', 'x'.repeat(161)])('hides %j', (name) => {
    expect(redactName(name)).toBe('[redacted]');
  });
});
