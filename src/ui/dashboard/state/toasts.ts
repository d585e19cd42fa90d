import { createStore } from '@xstate/store';

/** Something that happened, said once. */
export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'deny';
}

/** Makes the store of what the page says of its own accord; a reader of screens hears it too. */
export function createToasts() {
  return createStore({
    context: { toasts: [] as Toast[], last: 0 },
    on: {
      shown: (
        { toasts, last },
        { text, tone = 'plain' }: { text: string; tone?: Toast['tone'] },
      ) => ({
        // More than three are read by nobody.
        toasts: [...toasts.slice(-2), { id: last + 1, text, tone }],
        last: last + 1,
      }),
      closed: (context, { id }: { id: number }) => ({
        ...context,
        toasts: context.toasts.filter((toast) => toast.id !== id),
      }),
    },
  });
}
