import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { firstLoadBudget } from "./build/first-load-budget.ts";

export default defineConfig({
  root: import.meta.dirname,
  // Relative: where the app is served from, only the server knows.
  base: "./",
  plugins: [react(), tailwindcss(), firstLoadBudget({ bytesMax: 150_000 })],
  build: {
    // Data URLs would need a laxer policy; files keep it strict.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
