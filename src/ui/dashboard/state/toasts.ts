import { createStore } from '@xstate/store';

/** Something that happened, said once. */
export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'deny';
  /** Where it leads; `null` for nowhere. */
  href: string | null;
}

/** Makes the store of what the page says of its own accord; a reader of screens hears it too. */
export function createToasts() {
  return createStore({
    context: { toasts: [] as Toast[], last: 0 },
    on: {
      shown: (
        { toasts, last },
        { text, tone = 'plain', href = null }: Pick<Toast, 'text'> & Partial<Omit<Toast, 'id'>>,
      ) => ({
        // More than three are read by nobody.
        toasts: [...toasts.slice(-2), { id: last + 1, text, tone, href }],
        last: last + 1,
      }),
      closed: (context, { id }: { id: number }) => ({
        ...context,
        toasts: context.toasts.filter((toast) => toast.id !== id),
      }),
    },
  });
}
