# A machine for the course where there is no Linux: Debian's stable release and what setup.sh installs.
#   docker build -t flash . && docker run --rm -it -v "$PWD:/course" flash
FROM debian:stable-slim
COPY setup.sh /tmp/setup.sh
RUN /tmp/setup.sh && rm -rf /var/lib/apt/lists/* /tmp/setup.sh && useradd --create-home --uid 1000 student
USER student
WORKDIR /course
