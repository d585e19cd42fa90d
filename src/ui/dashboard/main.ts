import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/utilities.css';
import { askAll } from './api/ask-all.ts';
import { ApiClient } from './api/client.ts';
import { Session } from './api/session.ts';
import { views } from './shell/views.ts';
import { readRoute } from './state/route.ts';

// Kept small, so that the data of the first view is requested while the rest of the page is still loading.
const session = new Session();
session.takeFromAddress();
const client = new ApiClient(session);
const first = askAll(client);
first.catch(() => undefined);
const { view } = readRoute(location.hash);
if (view !== 'unknown') views[view].load().catch(() => undefined);
void import('./begin.ts').then(({ begin }) => begin({ session, client, first }));
