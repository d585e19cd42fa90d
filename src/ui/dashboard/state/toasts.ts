import { createStore } from '@xstate/store';

/** A one-time notification. */
export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'deny';
  /** Link target; `null` for none. */
  href: string | null;
}

/** Creates the store of the page's notifications, which screen readers also announce. */
export function createToasts() {
  return createStore({
    context: { toasts: [] as Toast[], last: 0 },
    on: {
      shown: (
        { toasts, last },
        { text, tone = 'plain', href = null }: Pick<Toast, 'text'> & Partial<Omit<Toast, 'id'>>,
      ) => ({
        // At most three are shown.
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
