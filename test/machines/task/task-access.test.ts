import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/machines/domain/task.ts';
import {
  asOwner,
  everything,
  isSameCaller,
  isWithin,
  mayDecide,
  type OwnedTask,
  ownerOf,
  ownerOfNextRun,
  scopeOf,
} from '../../../src/machines/task/task-access.ts';
import { aDeferral, aSettledDeferral } from '../../helpers/task-fixtures.ts';

const caller = (userId: string, orgId?: string, email?: string): Caller => ({
  provider: 'idp',
  userId,
  ...(orgId === undefined ? {} : { orgId }),
  ...(email === undefined ? {} : { email }),
});

const task = (requester: Caller | null, more: Partial<OwnedTask> = {}): OwnedTask => ({
  requester,
  deferral: null,
  settled: null,
  ...more,
});

const held = (approvers: string[] | null) => ({ deferral: aDeferral({ approvers }) });
const runtime: Caller = { provider: 'runtime', userId: 'runtime' };
const chat: Caller = { provider: 'chat', userId: 'U1', email: 'ann@acme.example' };
const acme = caller('ann', 'acme', 'ann@acme.example');

describe('a task', () => {
  it.each([
    // Who looks, at whose task: within org, requester, any.
    ['the same person', acme, task(acme), [true, true, true]],
    ['a colleague', caller('bob', 'acme'), task(acme), [true, false, true]],
    ['somebody elsewhere', caller('eve', 'globex'), task(acme), [false, false, true]],
    [
      'a person elsewhere with that name',
      caller('ann', 'globex'),
      task(acme),
      [false, false, true],
    ],
    ['a caller without an organisation', caller('bob'), task(acme), [true, false, true]],
    ['the same person, now without an organisation', caller('ann'), task(acme), [true, true, true]],
    ['a caller of a task without an organisation', acme, task(caller('bob')), [true, false, true]],
    ['another provider', { ...acme, provider: 'other' }, task(acme), [true, false, true]],
    ['a caller of a task without an owner', acme, task(null), [true, false, true]],
    ['nobody', null, task(acme), [true, false, true]],
    ['an anonymous caller of an anonymous task', null, task(null), [true, true, true]],
    ['the operator', runtime, task(acme), [true, true, true]],
    ['a chat', chat, task(chat), [true, true, true]],
    ['a chat, of an earlier release', chat, task(runtime), [true, true, true]],
    ['a chat where another person could listen', chat, task(caller('eve')), [false, false, false]],
    ['a chat without a signed-in person', chat, task(null), [false, false, false]],
    [
      'a listed approver',
      caller('bob', 'acme', ' Bob@Acme.example'),
      task(acme, held(['bob@acme.example'])),
      [true, true, true],
    ],
    [
      'a listed approver elsewhere',
      caller('bob', 'globex', 'bob@acme.example'),
      task(acme, held(['bob@acme.example'])),
      [false, false, true],
    ],
    [
      'an approver without an email',
      caller('bob', 'acme'),
      task(acme, held(['bob@acme.example'])),
      [true, false, true],
    ],
    [
      'any caller where no list applies',
      caller('bob', 'acme', 'bob@acme.example'),
      task(acme, held(null)),
      [true, false, true],
    ],
    [
      'any caller where the list is malformed',
      caller('bob', 'acme', 'bob@acme.example'),
      task(acme, held([])),
      [true, false, true],
    ],
  ])('is shown, or not, to %s', (_, looks, looked, expected) => {
    const accesses = ['org', 'requester', 'any'] as const;
    expect(accesses.map((access) => isWithin(scopeOf(access, looks), looked))).toEqual(expected);
  });

  it('names the first decider only to a listed approver who decides second', () => {
    const settled = {
      id: 'd',
      tool: 'pay',
      argsSha256: '',
      decision: 'approve',
      approver: 'x',
      note: '',
      decidedAt: 1,
    } as const;
    const decided = task(acme, { settled: { ...settled, approvers: ['bob@acme.example'] } });
    const bob = caller('bob', 'acme', 'bob@acme.example');
    const eve = caller('eve', 'globex', 'bob@acme.example');
    const may = (who: Caller, what: OwnedTask) => mayDecide(scopeOf('requester', who), what);
    expect(isWithin(scopeOf('requester', bob), decided)).toBe(false);
    expect([may(bob, decided), may(eve, decided), may(caller('joe', 'acme'), decided)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(may(bob, task(acme, { settled }))).toBe(false);
  });
});

describe('a decision on a task', () => {
  const listed = { approvers: ['bob@acme.example'] };
  const settled = { settled: aSettledDeferral(listed) };
  const bob = caller('bob', 'acme', 'bob@acme.example');

  it.each([
    // Whose decision, on which task: within org, requester, any.
    ['the daemon', runtime, task(acme), [true, true, true]],
    ['who asked', acme, task(acme), [true, true, true]],
    ['the requester of a decided one', acme, task(acme, settled), [true, true, true]],
    ['a listed approver', bob, task(acme, held(listed.approvers)), [true, true, true]],
    ['a formerly listed approver', bob, task(acme, settled), [true, true, true]],
    ['an unlisted approver', caller('joe', 'acme'), task(acme, settled), [true, false, true]],
    ['an approver who would have been listed', bob, task(acme), [true, false, true]],
    [
      'a formerly listed approver without an organisation',
      caller('bob', undefined, 'bob@acme.example'),
      task(acme, settled),
      [true, true, true],
    ],
    [
      'a person elsewhere with that name',
      caller('bob', 'globex', 'bob@acme.example'),
      task(acme, settled),
      [false, false, true],
    ],
    ['nobody', null, task(acme), [true, false, true]],
    ['an anonymous caller of a decided one', null, task(acme, settled), [true, false, true]],
    ['a chat', chat, task(acme, settled), [false, false, false]],
  ])('may be made, or not, by %s', (_, who, what, expected) => {
    const accesses = ['org', 'requester', 'any'] as const;
    expect(accesses.map((access) => mayDecide(scopeOf(access, who), what))).toEqual(expected);
  });
});

describe('the scope of a caller', () => {
  const owner = { provider: 'idp', userId: 'ann', orgId: 'acme' };
  const email = 'ann@acme.example';
  const organisation = { kind: 'organisation', orgId: 'acme' };
  const all = { kind: 'all' };
  const conversations = { kind: 'conversations' };

  it.each([
    ['somebody', acme, organisation, { kind: 'own', owner, listedAs: [email] }],
    [
      'a caller without an organisation',
      caller('bob'),
      all,
      { kind: 'own', owner: { provider: 'idp', userId: 'bob' }, listedAs: [] },
    ],
    ['nobody', null, all, { kind: 'own', owner: null, listedAs: [] }],
    ['the operator', runtime, all, all],
    ['a chat', chat, conversations, conversations],
  ])('contains only %s', (_, who, org, requester) => {
    const any = who === chat ? conversations : all;
    const accesses = ['org', 'requester', 'any'] as const;
    expect(accesses.map((access) => scopeOf(access, who))).toStrictEqual([org, requester, any]);
  });

  it('contains everything for the daemon itself', () => {
    expect([isWithin(everything, task(acme)), isWithin(everything, task(null))]).toEqual([
      true,
      true,
    ]);
  });
});

describe('the owner of a task', () => {
  const ann = { provider: 'idp', userId: 'ann', orgId: 'acme' };
  const bob = { provider: 'idp', userId: 'bob' };

  it.each([
    ['who asked', acme, undefined, ann],
    ['the requester, without an organisation', caller('bob'), undefined, bob],
    ['nobody', null, undefined, null],
    ['the person who received it', acme, bob, bob],
    ['no one, for any later caller', acme, null, null],
  ])('is %s', (_, requester, owner, expected) => {
    const owned = owner === undefined ? { requester } : { requester, owner };
    expect(ownerOf(owned)).toStrictEqual(expected);
  });

  it('contains no other property of the caller', () => {
    const told = { ...acme, workspaceId: 'w-1', acr: 'gold' };
    expect([asOwner(told), asOwner(caller('bob'))]).toStrictEqual([ann, bob]);
  });
});

describe('two callers', () => {
  it.each([
    ['the same', acme, caller('ann', 'acme'), true],
    ['the same person without an organisation', caller('ann'), caller('ann'), true],
    ['a person of another organisation', acme, caller('ann', 'globex'), false],
    ['a person without an organisation', acme, caller('ann'), false],
    ['another person of the organisation', acme, caller('bob', 'acme'), false],
    ['a person of another provider', acme, { ...acme, provider: 'other' }, false],
    ['a person and an anonymous caller', acme, null, false],
    ['a person without an organisation and an anonymous caller', caller('ann'), null, false],
    ['two anonymous callers', null, null, true],
  ])('are one person, or not: %s', (_, one, other, expected) => {
    expect([isSameCaller(one, other), isSameCaller(other, one)]).toEqual([expected, expected]);
  });
});

describe('another run of a task', () => {
  it.each([
    ['keeps the first requester as the owner', acme, caller('bob', 'acme'), 'ann acme'],
    ['by the operator does not leave the organisation', acme, runtime, 'ann acme'],
    [
      'by a person without an organisation does not leave the organisation',
      acme,
      caller('bob'),
      'ann acme',
    ],
    ['moves a task without an organisation into one', caller('bob'), acme, 'ann acme'],
    ['moves a task without an owner into an organisation', null, acme, 'ann acme'],
    [
      'by a person without an organisation leaves an anonymous task anonymous',
      null,
      caller('bob'),
      'nobody',
    ],
    ['keeps a conversation where it is', chat, acme, 'U1 none'],
    [
      'by an anonymous caller keeps the first requester as the owner',
      caller('bob'),
      null,
      'bob none',
    ],
  ])('%s', (_, first, second, expected) => {
    const owner = ownerOfNextRun(task(first), second);
    const again = ownerOf({ requester: second, owner });
    const said = again === null ? 'nobody' : `${again.userId} ${again.orgId ?? 'none'}`;
    expect(said).toBe(expected);
  });
});
