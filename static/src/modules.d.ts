declare module "htmx.org";
declare module "*.css";
