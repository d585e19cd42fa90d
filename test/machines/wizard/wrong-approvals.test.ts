import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  type ApprovalAnswer,
  firstAnswers,
  firstApproval,
} from '../../../src/machines/wizard/agent-answers.ts';
import { wrongAnswer } from '../../../src/machines/wizard/wrong-answers.ts';
import { anOffer } from './some-answers.ts';

function wrong(more: Partial<ApprovalAnswer>, channels: AgentAnswers['channels'] = {}) {
  const approvals = { datetime_now: { ...firstApproval, ...more } };
  return wrongAnswer('approvals', { ...firstAnswers, channels, approvals }, anOffer);
}

const emails = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index}@b.example`);

describe('a held tool', () => {
  it('must be a tool of the agent or of a skill', () => {
    const approvals = { datetime_now: firstApproval, list_issues: firstApproval };
    const skills = { names: ['github'], variables: {} };
    expect(wrongAnswer('approvals', { ...firstAnswers, skills, approvals }, anOffer)).toBeNull();
    expect(wrongAnswer('approvals', { ...firstAnswers, approvals }, anOffer)).toBe(
      'list_issues is not a tool of this agent; known are datetime_now',
    );
  });

  it('is named when its terms are wrong, also as the second one', () => {
    const approvals = { datetime_now: firstApproval, glob_search: { ...firstApproval, quorum: 0 } };
    const tools = { ...firstAnswers.tools, names: ['datetime_now', 'glob_search'] };
    expect(wrongAnswer('approvals', { ...firstAnswers, tools, approvals }, anOffer)).toBe(
      'glob_search: the quorum is a whole number, 1 or more',
    );
  });
});

describe('the approval target', () => {
  const whom =
    'datetime_now: the approval target must be a target such as channel:console:* or channel:slack:#ops';
  const cannot = (adapter: string) =>
    `datetime_now: ${adapter} does not support approvals; use console, dashboard, slack or webhook`;
  const none = (adapter: string) =>
    `datetime_now: the agent has no channel ${adapter}; enable it, or use another target`;
  const another = 'datetime_now: the webhook has one receiver; name that one';

  it.each([
    ['channel:console:*', null],
    ['channel:console: *', null],
    ['channel:dashboard:ann', null],
    ['', whom],
    ['console', whom],
    ['console:*', whom],
    ['a channel:console:*', whom],
    ['channel:console', whom],
    ['channel:console:', whom],
    ['channel:console: ', whom],
    ['channel::*', whom],
    ['channel:con sole:*', whom],
    ['channel:console:*\n', whom],
    ['channel:console:*\u2028', whom],
    ['channel:console:*\nx', whom],
    ['channel:telegram:1', cannot('telegram')],
    ['channel:sms:1', cannot('sms')],
    ['channel:slack:#ops', none('slack')],
    ['channel:webhook:ops', none('webhook')],
  ])('%j without a channel: %j', (to, complaint) => {
    expect(wrong({ to })).toBe(complaint);
  });

  const webhook = { target: ' ops ', url: 'https://ops.example.com' };

  it.each([
    ['channel:slack:#ops', null],
    ['channel:telegram:1', cannot('telegram')],
    ['channel:webhook:ops', null],
    ['channel:webhook: ops ', null],
    ['channel:webhook:op', another],
    ['channel:webhook:ops2', another],
  ])('%j with every channel: %j', (to, complaint) => {
    expect(wrong({ to }, { slack: {}, telegram: {}, webhook })).toBe(complaint);
  });

  it.each([[{}], [{ target: ['ops'] }], [{ target: '' }]])(
    'is no webhook while its address is %j',
    (channel) => {
      expect(wrong({ to: 'channel:webhook:ops' }, { webhook: channel })).toBe(another);
    },
  );
});

describe('the terms of a wait', () => {
  const zero = 'the timeout must be above zero; write 90s, 5m or 1h30m';
  const whole = 'the quorum is a whole number, 1 or more';
  const email = 'approvers are emails, such as ann@example.com';

  it.each<[string, Partial<ApprovalAnswer>, string | null]>([
    ['may be a short time', { timeout: '1ms' }, null],
    ['may not be no time', { timeout: '0' }, zero],
    ['may not be zero seconds', { timeout: '0s' }, zero],
    ['may be 24 days', { timeout: '24d' }, null],
    [
      'may not be longer than 24 days',
      { timeout: '25d' },
      'a duration must be at most 24 days (576h)',
    ],
    ['need a time', { timeout: '' }, 'a duration must not be empty; write 90s, 5m or 1h30m'],
    ['need a unit', { timeout: '5' }, 'a duration needs a unit; write 5s, 5m or 5h'],
    [
      'may not be another string',
      { timeout: 'soon' },
      'this is not a duration; write 90s, 5m or 1h30m',
    ],
    ['may need one approval', { quorum: 1 }, null],
    ['may not need zero approvals', { quorum: 0 }, whole],
    ['may not need a negative number', { quorum: -1 }, whole],
    ['may not need one and a half', { quorum: 1.5, approvers: emails(2) }, whole],
    ['may not need a value that is no number', { quorum: Number.NaN }, whole],
    ['may need 200 approvals', { approvers: emails(200) }, null],
    ['may not need 201', { approvers: emails(201) }, 'there are at most 200 approvers'],
    ['may list approvers by email', { approvers: [' Ann@example.com '] }, null],
    ['may list no approver by name', { approvers: ['ann@example.com', 'bob'] }, email],
    ['may list no approver on two lines', { approvers: ['ann@example.com\n'] }, email],
    ['may need two of two', { quorum: 2, approvers: emails(2) }, null],
    ['may need two of three', { quorum: 2, approvers: emails(3) }, null],
    ['may need one of three', { quorum: 1, approvers: emails(3) }, null],
    [
      'may not need two without a list of approvers',
      { quorum: 2 },
      'a quorum of 2 needs as many approvers by their emails',
    ],
    [
      'may not need three when one of them is listed twice',
      {
        quorum: 3,
        approvers: ['ann@example.com', ' ANN@example.com', 'bob@example.com'],
      },
      'a quorum of 3 needs as many approvers by their emails',
    ],
  ])('%s', (_, more, complaint) => {
    expect(wrong(more)).toBe(complaint === null ? null : `datetime_now: ${complaint}`);
  });
});
