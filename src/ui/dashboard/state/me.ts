import { createStore } from '@xstate/store';

/** Creates the store of the email address under which the user decides; kept as long as the page is open. */
export function createMe() {
  return createStore({
    context: { email: '' },
    on: { named: (_, { email }: { email: string }) => ({ email: email.trim() }) },
  });
}
