import { createStore } from '@xstate/store';

/** Creates the store of the email address under which the user decides; kept as long as the page is open. */
export function createMe() {
  return createStore({
    context: { email: '', isVerified: false },
    on: {
      named: (context, { email }: { email: string }) =>
        context.isVerified ? context : { email: email.trim(), isVerified: false },
      /** The person has signed in with this email. */
      verified: (_, { email }: { email: string }) => ({ email, isVerified: true }),
    },
  });
}
