export class GlimpseImage extends HTMLElement {}
