import { render } from 'preact';
import '../glimpse-image/glimpse-image.ts';

const app = document.getElementById('app');
if (app !== null) render(<main>Glimpse</main>, app);
