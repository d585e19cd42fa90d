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

describe('a tool that waits', () => {
  it('is one that the agent has, of its own or of a skill', () => {
    const approvals = { datetime_now: firstApproval, list_issues: firstApproval };
    const skills = { names: ['github'], variables: {} };
    expect(wrongAnswer('approvals', { ...firstAnswers, skills, approvals }, anOffer)).toBeNull();
    expect(wrongAnswer('approvals', { ...firstAnswers, approvals }, anOffer)).toBe(
      'list_issues is not a tool of this agent; known are datetime_now',
    );
  });

  it('is named when its terms are wrong, be it the second', () => {
    const approvals = { datetime_now: firstApproval, glob_search: { ...firstApproval, quorum: 0 } };
    const tools = { ...firstAnswers.tools, names: ['datetime_now', 'glob_search'] };
    expect(wrongAnswer('approvals', { ...firstAnswers, tools, approvals }, anOffer)).toBe(
      'glob_search: the quorum is a whole number, 1 or more',
    );
  });
});

describe('whom it waits for', () => {
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
    'is no webhook that is still %j',
    (channel) => {
      expect(wrong({ to: 'channel:webhook:ops' }, { webhook: channel })).toBe(another);
    },
  );
});

describe('how it waits', () => {
  const zero = 'the timeout must be above zero; write 90s, 5m or 1h30m';
  const whole = 'the quorum is a whole number, 1 or more';
  const email = 'approvers are emails, such as ann@example.com';

  it.each<[string, Partial<ApprovalAnswer>, string | null]>([
    ['is for a moment at least', { timeout: '1ms' }, null],
    ['is not for no time', { timeout: '0' }, zero],
    ['is not for no seconds', { timeout: '0s' }, zero],
    ['is for 24 days at most', { timeout: '24d' }, null],
    ['is not for longer', { timeout: '25d' }, 'a duration must be at most 24 days (576h)'],
    ['has a time', { timeout: '' }, 'a duration must not be empty; write 90s, 5m or 1h30m'],
    ['has a unit', { timeout: '5' }, 'a duration needs a unit; write 5s, 5m or 5h'],
    ['is no other text', { timeout: 'soon' }, 'this is not a duration; write 90s, 5m or 1h30m'],
    ['is for one', { quorum: 1 }, null],
    ['is not for nobody', { quorum: 0 }, whole],
    ['is not for less than nobody', { quorum: -1 }, whole],
    ['is not for one and a half', { quorum: 1.5, approvers: emails(2) }, whole],
    ['is not for what is no number', { quorum: Number.NaN }, whole],
    ['is for 200 approvers at most', { approvers: emails(200) }, null],
    ['is not for 201', { approvers: emails(201) }, 'there are at most 200 approvers'],
    ['is for approvers by email', { approvers: [' Ann@example.com '] }, null],
    ['is for no approver by name', { approvers: ['ann@example.com', 'bob'] }, email],
    ['is for no approver on two lines', { approvers: ['ann@example.com\n'] }, email],
    ['is for two of two', { quorum: 2, approvers: emails(2) }, null],
    ['is for two of three', { quorum: 2, approvers: emails(3) }, null],
    ['is for one of three', { quorum: 1, approvers: emails(3) }, null],
    [
      'is not for two of whoever is asked',
      { quorum: 2 },
      'a quorum of 2 needs as many approvers by their emails',
    ],
    [
      'is not for three when one of them is there twice',
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
