import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import { mount } from 'svelte';
import App from './shell/app.svelte';
import { startDashboard } from './start-dashboard.ts';

const target = document.querySelector('#app');
if (target === null) throw new Error('index.html has no element #app');
mount(App, { target, props: { dashboard: startDashboard() } });
