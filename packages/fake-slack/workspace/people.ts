import type { FakeChannel, FakeUser } from './workspace.ts';

const nobody: FakeUser = {
  id: '',
  name: '',
  realName: '',
  email: null,
  isBot: false,
  isDeleted: false,
};
const nowhere: FakeChannel = {
  id: '',
  name: '',
  isPrivate: false,
  isArchived: false,
  hasBot: true,
  partner: null,
};

/** The default users of the workspace. */
export const usualUsers: FakeUser[] = [
  { ...nobody, id: 'U0ANN00001', name: 'ann', realName: 'Ann Miller', email: 'ann@example.com' },
  { ...nobody, id: 'U0BOB00001', name: 'bob', realName: 'Bob Stone', email: 'bob@example.com' },
  { ...nobody, id: 'U0EVE00001', name: 'eve', realName: 'Eve Grey', email: 'eve@example.com' },
  { ...nobody, id: 'U0GUEST001', name: 'guest', realName: 'A Guest' },
  {
    ...nobody,
    id: 'U0GONE0001',
    name: 'gone',
    realName: 'Gone Person',
    email: 'gone@example.com',
    isDeleted: true,
  },
  { ...nobody, id: 'U0ROBOT001', name: 'robot', realName: 'Another App', isBot: true },
];

/** The default channels of the workspace. The bot is a member of neither `outside` nor `old`. */
export const usualChannels: FakeChannel[] = [
  { ...nowhere, id: 'C0REFUNDS1', name: 'refunds' },
  { ...nowhere, id: 'C0GENERAL1', name: 'general' },
  { ...nowhere, id: 'C0FINANCE1', name: 'finance', isPrivate: true },
  { ...nowhere, id: 'C0OUTSIDE1', name: 'outside', hasBot: false },
  { ...nowhere, id: 'C0OLD00001', name: 'old', isArchived: true, hasBot: false },
];

/** Creates a user with defaults for missing fields. */
export function fakeUser(facts: Partial<FakeUser> & Pick<FakeUser, 'id'>): FakeUser {
  return { ...nobody, name: facts.id.toLowerCase(), realName: facts.id, ...facts };
}

/** Creates a channel with defaults for missing fields. */
export function fakeChannel(facts: Partial<FakeChannel> & Pick<FakeChannel, 'id'>): FakeChannel {
  return { ...nowhere, name: facts.id.toLowerCase(), ...facts };
}
